/**
 * Explains why a virtual machine has its address, or none, as a value: every link from the virtual machine to its guest operating
 * system.
 *
 * @packageDocumentation
 */

export {
  type AddressChain,
  type ChainLink,
  type EventSubject,
  type Finding,
  firstTrouble,
  type InterfaceChain,
  type LinkState,
  type PacketSubject,
} from './address-chain.js';
export { type AddressClient, type ClaimingConfig, findAddressClaims, orderClaims } from './address-claims.js';
export { describeStaleLease, isStaleLease } from './agent-links.js';
export {
  type AgentTrafficReport,
  type ClientTraffic,
  mostFrequent,
  type PacketCounts,
  packetsOf,
  parseAgentTraffic,
  refusalsOf,
  type TrafficCounts,
  type TrafficPacket,
} from './agent-traffic.js';
export { type AwaitedInterface, findAwaitedInterfaces } from './awaited-interfaces.js';
export { CHAIN_LINKS, type ChainLinkName } from './chain-links.js';
export {
  type ChainObservation,
  describeMissingRight,
  type MissingRight,
  type NetworkPools,
  type Observed,
  type ObservedTraffic,
  objectOf,
  UNREAD,
} from './chain-observation.js';
export { type ClientRecord, type ClientSubject, findClientRecords } from './client-records.js';
export { explainAddress } from './explain-address.js';
export { type PinPlan, type PinRequest, planPin } from './plan-pin.js';
export {
  type AddressOwner,
  type ObservedMachine,
  planAddressRelease,
  planMachineRelease,
  type ReleasePlan,
} from './plan-release.js';
export {
  isRunning,
  linkOnCommand,
  planLinkOff,
  planLinkOn,
  type RenewalPlan,
  type RenewalRequest,
  reportedLink,
} from './plan-renewal.js';
export { poolsByNetwork } from './pools-by-network.js';
export { type ChainReason, type Gravity, REASON_GRAVITIES, REASON_LINKS } from './reasons.js';
export {
  type ChainKind,
  type ChainRead,
  type ChainWalk,
  type WalkedMachine,
  type WalkSettings,
  walkChain,
} from './walk-chain.js';
