/**
 * Explains why a virtual machine has its address, or none: every link from the virtual machine to the address that its guest
 * operating system reports, as one value. What the controller and the agents found is in conditions, Events and reports; this
 * puts it in order of cause and effect.
 */
import { CONTROLLER_LEASE } from '@vmdhcp/ippool-api/resources';
import { keyOf, parseTime, readConditions, readField } from '@vmdhcp/kube-runtime';
import {
  type AddressChain,
  type EventSubject,
  type Finding,
  finding,
  firstTrouble,
  type InterfaceChain,
  type LinkFacts,
  toLinks,
  worstOf,
} from './address-chain.js';
import { describeStaleLease, expiryOf, isStaleLease, readAgents } from './agent-links.js';
import { type ChainObservation, type MissingRight, type Observed, objectOf } from './chain-observation.js';
import { readEntry, readNetwork } from './config-links.js';
import { furtherPackets } from './further-packets.js';
import { readInstance } from './instance-link.js';
import type { ChainInterface } from './machine-interfaces.js';
import { type MachineReading, readMachine } from './machine-links.js';
import { readPackets } from './packet-link.js';
import { isLinkOff, linkOnCommand } from './plan-renewal.js';
import { readAddress, readPoolLink } from './pool-links.js';
import { type ChainReason, REASON_LINKS } from './reasons.js';

/** Never throws, whatever the objects contain. */
export function explainAddress(observation: ChainObservation): AddressChain {
  const machine = readMachine(observation);
  const interfaces = machine.interfaces.map((one) => explainInterface(observation, machine, one));
  const isTroubled = [...machine.findings, ...interfaces].some(({ state }) => state === 'broken' || state === 'waiting');
  const controller = readController(observation, isTroubled);
  const links = toLinks([machine.facts, ...controller.facts], [...machine.findings, ...controller.findings]);
  const { namespace, name } = observation;
  return {
    namespace,
    name,
    state: worstOf([...links.map(({ state }) => state), ...interfaces.map(({ state }) => state)]),
    links,
    interfaces,
    missingRights: missingRightsIn(observation),
    furtherEvents: furtherEvents(observation, interfaces),
    furtherPackets: machine.isRunning && firstTrouble(links) === undefined ? furtherPackets(observation, interfaces) : [],
  };
}

function explainInterface(observation: ChainObservation, machine: MachineReading, one: ChainInterface): InterfaceChain {
  const entry = readEntry(observation, one);
  const address = readAddress(observation, one, entry);
  const instance = readInstance(observation, { one, machine }, address.address);
  const isTroubled = instance.findings.some(({ state }) => state === 'broken');
  const readings = [
    readNetwork(observation, one),
    readPoolLink(observation, one),
    entry,
    address,
    readAgents(observation, one, address.address),
    readPackets(observation, one, isTroubled),
    instance,
  ];
  const own: LinkFacts = { link: 'interface', facts: one.macAddress ?? 'no MAC address yet' };
  const facts = [own, ...readings.flatMap((reading) => reading.facts)];
  const found = withoutConsequences([
    ...one.findings,
    ...linkFindings(observation, machine, one),
    ...readings.flatMap((reading) => reading.findings),
  ]);
  const findings = mayForgoIpv4(observation, one) ? found.map(toNoteWithoutIpv4) : found;
  const links = toLinks(facts, findings);
  const trouble = firstTrouble(links);
  return {
    interface: one.name,
    network: one.network,
    ...(one.macAddress !== undefined && { macAddress: one.macAddress }),
    ...(address.address !== undefined && { address: address.address }),
    state: worstOf(links.map(({ state }) => state)),
    links,
    ...(trouble !== undefined && { brokenAt: trouble.link }),
  };
}

/**
 * Removes consequences of other findings: an interface that another DHCP server serves needs no pool and no address, a broken
 * pool explains a missing config, and a link that is off explains a silent guest.
 */
function withoutConsequences(findings: readonly Finding[]): Finding[] {
  const isExternal = findings.some(({ reason }) => reason === 'ExternalDHCP');
  const isUnreached = findings.some(({ reason, state }) => state === 'broken' && /^(?:Binding|Network)NotServed$/.test(reason));
  const isPoolBroken = findings.some(({ reason, state }) => state === 'broken' && REASON_LINKS[reason].link === 'pool');
  const isLinkOffFound = findings.some(({ reason }) => reason === 'LinkOff');
  const consequences = new Set<ChainReason>([
    ...(isExternal || isUnreached ? (['AddressPending', 'NoPool'] as const) : []),
    ...(isPoolBroken ? (['NetworkConfigMissing'] as const) : []),
    ...(isLinkOffFound
      ? (['NoPacketFromClient', 'OfferNotAccepted', 'AcknowledgedNotUsed', 'InstanceHasNoAddress'] as const)
      : []),
  ]);
  return findings.filter(({ reason }) => !consequences.has(reason));
}

function linkFindings({ virtualMachine }: ChainObservation, { isRunning }: MachineReading, { name }: ChainInterface): Finding[] {
  const object = objectOf(virtualMachine);
  if (!isRunning || object === undefined || !isLinkOff(object, name)) return [];
  return [finding('LinkOff', `to switch it on: ${linkOnCommand(object, name)}`)];
}

/** A client that does without IPv4 for a while has no IPv4 address, is silent, and takes no offer, nor an acknowledgement. Source: RFC 8925 §3.2. */
const NORMAL_WITHOUT_IPV4: ReadonlySet<ChainReason> = new Set([
  'AcknowledgedNotUsed',
  'InstanceHasNoAddress',
  'NoPacketFromClient',
  'OfferNotAccepted',
]);

function mayForgoIpv4({ pools }: ChainObservation, { network }: ChainInterface): boolean {
  return readField(objectOf(pools.get(network)?.pool)?.spec, 'ipv6Config', 'ipv6OnlyWait') !== undefined;
}

function toNoteWithoutIpv4(one: Finding): Finding {
  if (!NORMAL_WITHOUT_IPV4.has(one.reason)) return one;
  return {
    ...one,
    state: 'note',
    message: `normal if it does without IPv4 (spec.ipv6Config.ipv6OnlyWait); else: ${one.message}`,
  };
}

interface ControllerReading {
  readonly facts: readonly LinkFacts[];
  readonly findings: readonly Finding[];
}

/** A controller without leader election has no Lease. */
function readController(observation: ChainObservation, isTroubled: boolean): ControllerReading {
  const { controller, nowMs } = observation;
  if (controller.kind === 'unread') return { facts: [], findings: [] };
  const link = { link: 'controller', object: `Lease ${keyOf({ metadata: CONTROLLER_LEASE })}` } as const;
  if (controller.kind === 'missing') return { facts: [{ ...link, facts: 'does not exist', isUnknown: true }], findings: [] };
  if (controller.kind === 'refused') return { facts: [{ ...link, facts: 'cannot be read', isUnknown: true }], findings: [] };
  if (!isStaleLease(controller.object, nowMs)) return { facts: [{ ...link, facts: 'a controller is leader' }], findings: [] };
  const expired = describeStaleLease(controller.object, nowMs);
  if (hasWrittenSince(observation, expiryOf(controller.object))) {
    const facts = `${expired}; a controller that elects no leader has written since then`;
    return { facts: [{ ...link, facts, isUnknown: true }], findings: [] };
  }
  const found = finding('ControllerNotLeading', '', isTroubled ? 'broken' : 'note');
  return { facts: [{ ...link, facts: expired }], findings: [found] };
}

/** True if a condition changed after this time: only the controller writes conditions. */
function hasWrittenSince({ networkConfig, pools }: ChainObservation, timeMs: number): boolean {
  const written = [networkConfig, ...[...pools.values()].map(({ pool }) => pool)];
  return written.some((one) => readConditions(objectOf(one)?.status).some((each) => parseTime(each.lastTransitionTime) > timeMs));
}

function missingRightsIn(observation: ChainObservation): MissingRight[] {
  const { virtualMachine, instance, networkConfig, networks, pools, leases, traffic, controller } = observation;
  const all: readonly Observed[] = [
    virtualMachine,
    instance,
    networkConfig,
    controller,
    ...networks.values(),
    ...[...pools.values()].map(({ pool }) => pool),
    ...leases.values(),
  ];
  const ofPackets = [...(traffic?.values() ?? [])].flatMap((one) => (one.kind === 'refused' ? one.rights : []));
  const rights = [...all.flatMap((one) => (one.kind === 'refused' ? [one.right] : [])), ...ofPackets];
  return [...new Map(rights.map((right) => [JSON.stringify(right), right])).values()];
}

/** If an object is missing, or has an unexpected address, only an Event may say why. */
function furtherEvents(observation: ChainObservation, interfaces: readonly InterfaceChain[]): EventSubject[] {
  const { namespace, name } = observation;
  const reasons = new Set(
    interfaces.flatMap(({ links }) => links.flatMap(({ findings }) => findings.map(({ reason }) => reason))),
  );
  const isUnwritten = reasons.has('NetworkConfigMissing') || reasons.has('AwaitingMacAddress');
  const ofMachine = objectOf(observation.virtualMachine) !== undefined && isUnwritten;
  const pools = interfaces.flatMap(({ network, links }): EventSubject[] => {
    const pool = objectOf(observation.pools.get(network)?.pool);
    const isOther = links.some(({ findings }) => findings.some(({ reason }) => reason === 'InstanceHasAnotherAddress'));
    return isOther && pool !== undefined
      ? [{ kind: 'IPPool', namespace: keyOf(pool).split('/', 1)[0] ?? '', name: pool.metadata.name }]
      : [];
  });
  return [...(ofMachine ? [{ kind: 'VirtualMachine', namespace, name } as const] : []), ...pools];
}
