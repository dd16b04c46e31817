/**
 * Where each reason of the product belongs on the way to an address, and how grave it is there. A reason that is missing here
 * does not compile.
 */
import type { ConditionPlace, EventPlace, ReasonAt } from '@vmdhcp/ippool-api/agent';
import type { ChainLinkName } from './chain-links.js';

/** The kinds of objects that an address depends on. */
type OnTheWay = 'IPPool' | 'VirtualMachine' | 'VirtualMachineNetworkConfig';
type PlaceOnTheWay =
  | Extract<ConditionPlace, `${OnTheWay} ${string}`>
  | Extract<EventPlace, `${string} on ${OnTheWay}`>
  | 'agent report'
  | 'kubectl vmdhcp why';

/**
 * Reasons that no condition ever has: plans continue despite the first two, and the cause in `CacheReady` replaces the third one.
 */
type InPlansOnly = 'ClaimMissing' | 'ClientHasAnotherAddress' | 'NotServed';

/** The reasons that may explain why a virtual machine has no address. Those of Wake-on-LAN concern its power. */
export type ChainReason = Exclude<ReasonAt<PlaceOnTheWay>, `WakeUp${string}` | InPlansOnly>;

/** `waiting`: it ends without action. `note`: the address is served nevertheless. */
export type Gravity = 'ok' | 'note' | 'waiting' | 'broken';

interface ReasonLink {
  readonly link: ChainLinkName;
  /** How grave the reason is if the condition or the report means trouble; otherwise it is a note. */
  readonly gravity: Gravity;
}

const at = (link: ChainLinkName, gravity: Gravity = 'broken'): ReasonLink => ({ link, gravity });

/** The link that each reason breaks, and how grave it is. */
export const REASON_LINKS: Readonly<Record<ChainReason, ReasonLink>> = {
  VirtualMachineUnknown: at('virtual-machine'),
  VirtualMachineMissing: at('virtual-machine', 'note'),
  VirtualMachineStopped: at('virtual-machine', 'note'),
  TemplateMissing: at('virtual-machine'),
  MacAddressAnnotationUnreadable: at('virtual-machine'),
  NoInterfaceOnNetwork: at('virtual-machine'),
  OptOutWithoutInterface: at('virtual-machine', 'note'),
  StaticAddressWithoutInterface: at('virtual-machine', 'note'),
  VirtualMachineInstancesUnreadable: at('virtual-machine', 'note'),
  VirtualMachineInstanceUnseen: at('virtual-machine', 'note'),
  NetworkConfigRefused: at('virtual-machine'),

  ControllerNotLeading: at('controller'),

  AwaitingMacAddress: at('interface', 'waiting'),
  MacAddressTwice: at('interface'),
  MacAddressUnreadable: at('interface'),
  MacAddressClaimedTwice: at('interface'),
  StaticAddressUnreadable: at('interface', 'note'),
  PinnedAddressesUnreadable: at('interface', 'broken'),
  PinnedAddressesSurplus: at('interface', 'note'),
  TooManyInterfaces: at('interface'),
  BindingNotServed: at('interface'),
  LinkOff: at('interface'),

  NetworkUnknown: at('network'),
  NetworkMissing: at('network'),
  NetworkNameTooLong: at('network'),
  ExternalDHCP: at('network', 'note'),
  NetworkNotServed: at('network'),
  ServedTwice: at('network', 'note'),
  MayBeServedTwice: at('network', 'note'),

  NetworkConfigMissing: at('network-config', 'waiting'),
  NetworkConfigPaused: at('network-config'),
  NetworkConfigChanged: at('network-config', 'note'),
  NetworkNameMissing: at('network-config'),
  NoInterfaces: at('network-config'),
  AddressUnreadable: at('network-config'),
  OtherInterfaceRefused: at('network-config'),

  NoPool: at('pool'),
  PoolPaused: at('pool'),
  Paused: at('pool'),
  PoolInvalid: at('pool'),
  PoolMissing: at('pool'),
  NetworkTaken: at('pool'),
  NetworkNotAllowed: at('pool'),
  SegmentShared: at('pool', 'note'),
  OverlapsServiceCidr: at('pool', 'note'),
  OverlapsPodCidr: at('pool', 'note'),
  IsApiServer: at('pool', 'note'),
  AddressOutsideRange: at('pool', 'note'),
  ExcludedAddressInUse: at('pool', 'note'),
  EntriesSkipped: at('pool', 'note'),
  ExclusionsNotListed: at('pool', 'note'),

  PoolExhausted: at('address'),
  PoolRecordFull: at('address'),
  AddressTaken: at('address'),
  AddressOutsidePool: at('address'),
  AddressReserved: at('address'),
  AddressUnavailable: at('address'),
  AddressQuarantined: at('address'),
  AddressConflict: at('address', 'note'),
  UnassignedAddressUsed: at('address', 'note'),
  AddressPending: at('address', 'waiting'),
  AddressFree: at('address', 'note'),
  ClientUnknown: at('address'),

  Pending: at('agents', 'waiting'),
  RollingOut: at('agents', 'waiting'),
  AgentsElsewhere: at('agents'),
  AgentDeploymentMissing: at('agents'),
  AgentContainerMissing: at('agents'),
  AgentDeploymentConflict: at('agents'),
  AgentSelectorMismatch: at('agents'),
  AgentRightsMissing: at('agents'),
  AgentConfigTooLarge: at('agents'),
  NotScheduled: at('agents'),
  ImagePull: at('agents'),
  CrashLooping: at('agents'),
  FailedCreate: at('agents'),
  RolloutStuck: at('agents'),
  PodNotReady: at('agents'),

  NotLeading: at('leader'),
  Lagging: at('leader'),
  NetworkSilent: at('leader'),

  NotListed: at('report', 'waiting'),
  NotServing: at('report'),
  Draining: at('report', 'waiting'),
  Suspended: at('report', 'waiting'),
  Opening: at('report', 'waiting'),
  DryRun: at('report'),
  InterfaceMissing: at('report'),
  InterfaceNotIsolated: at('report'),
  AddressFailed: at('report'),
  SocketFailed: at('report'),
  ServerAddressRefused: at('report'),
  RogueServer: at('report', 'note'),
  DuplicateAddressDetected: at('report', 'note'),
  RogueRouter: at('report', 'note'),
  NoRouter: at('report', 'note'),
  RouterSaysNoManaged: at('report', 'note'),

  NoPacketFromClient: at('packets'),
  OfferNotAccepted: at('packets'),
  OtherServerSelected: at('packets'),
  PacketNotAnswered: at('packets'),
  RequestRefused: at('packets', 'waiting'),
  ClientDeclinedAddress: at('packets'),
  AcknowledgedNotUsed: at('packets'),

  AddressChanged: at('instance', 'note'),
  InstanceHasNoAddress: at('instance'),
  InstanceHasAnotherAddress: at('instance'),
  AwaitingMigration: at('instance', 'waiting'),
};

/** How grave each reason is where a condition or a report means trouble. */
export const REASON_GRAVITIES: Readonly<Record<string, Gravity>> = Object.fromEntries(
  Object.entries(REASON_LINKS).map(([reason, { gravity }]) => [reason, gravity]),
);
