/**
 * Computes which addresses a DHCP server gives to one client only, or to none: a function of objects, so that a change of them
 * takes effect without a restart.
 */
import {
  cidrContains,
  formatIpv4Address,
  type Ipv4Address,
  isGroupMacAddress,
  type MacAddress,
  parseIpv4Address,
  parseMacAddress,
  rangeContains,
} from '@vmdhcp/dhcp-allocator/address';
import { RELEASE_LEASE_ANNOTATION } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { clusterAgentOf } from '../check/host-endpoint-problems.js';
import { parseHostStatusName } from '../host/host-name.js';
import { type ObservedHost, readHost } from '../host/read-host.js';
import type { InventoryFacts } from '../inventory/inventory-plan.js';
import { agentsByEndpoint, claimOf } from '../inventory/own-objects.js';
import type { HostEvent } from '../object/host-event.js';
import { readNonEmptyText } from '../object/read-field.js';
import { readTime } from '../object/time.js';

/** An address that only this client gets. */
export interface BoundAddress {
  readonly ipAddress: string;
  readonly macAddress: MacAddress;
  /** The object that binds it. */
  readonly hostStatus: string;
  /** True if the annotation binds it, not `enableBindDhcpIP`. */
  readonly isByAnnotation: boolean;
  /** True if the client has a lease now. */
  readonly isActive: boolean;
  /**
   * When the object last changed; milliseconds since 1970, 0 if not known. A server whose range is exhausted may give away
   * bindings that have no lease and no annotation, oldest first: then the object follows the new lease. Otherwise a flood of
   * made-up clients would block the range for ever.
   */
  readonly changedAtMs: number;
}

/** Times of annotations are whole seconds: a lease that was granted in the same second is meant, too. */
const WITHIN_SECOND_MS = 999;

/** A lease that a person ends because its host is gone. */
export interface LeaseRelease {
  readonly ipAddress: string;
  /** The object that has the annotation. */
  readonly hostStatus: string;
  /** Milliseconds since 1970: only leases granted before this time. */
  readonly beforeMs: number;
}

export interface BoundAddresses {
  /** In the order of addresses. At most one for each address and each client. */
  readonly bindings: readonly BoundAddress[];
  /** Addresses of the range that no client gets, because HostEndpoints have them. In order. */
  readonly keptOut: readonly string[];
  /** Leases that a person ends. In the order of their addresses. */
  readonly releases: readonly LeaseRelease[];
  /** Annotations without effect, as Warning Events. */
  readonly problems: readonly HostEvent[];
}

/**
 * Computes the bound addresses, from `enableBindDhcpIP` and annotations, and those kept out of the range by `enableBindStaticIP`.
 * Each switch has only its own effect. Never throws, whatever is stored.
 */
export function boundAddresses(facts: Omit<InventoryFacts, 'nowMs'>): BoundAddresses {
  const { clusterAgent } = facts;
  const addresses = endpointAddresses(facts);
  const hosts = learnedHosts(facts).filter(
    ({ address }) => !addresses.has(address) && (clusterAgent.subnet === undefined || cidrContains(clusterAgent.subnet, address)),
  );
  const candidates = hosts.flatMap((one) => toCandidate(one, facts)).toSorted(compareCandidates);
  const byClient = onePerClient(candidates);
  const chosen = [...byClient.values()];
  const { range } = clusterAgent;
  const isInRange = (address: Ipv4Address) => range !== undefined && rangeContains(range, address);
  const keptOut = clusterAgent.enableBindStaticIP ? [...addresses].filter(isInRange) : [];
  return {
    bindings: chosen.toSorted((one, other) => one.address - other.address).map(toBinding),
    keptOut: keptOut.toSorted((one, other) => one - other).map(formatIpv4Address),
    releases: hosts.toSorted((one, other) => one.address - other.address).flatMap(toRelease),
    problems: [
      ...hosts.flatMap(unreadable),
      ...hosts.flatMap(unreadableRelease),
      ...candidates.flatMap((one) => boundElsewhere(one, byClient)),
      ...inUse(chosen, facts),
    ],
  };
}

interface LearnedHost {
  readonly address: Ipv4Address;
  readonly host: ObservedHost;
  readonly object: KubernetesObject;
}

interface Candidate extends LearnedHost {
  readonly macAddress: MacAddress;
  readonly isByAnnotation: boolean;
}

/** The HostEndpoints of this ClusterAgent, including those that are invalid in other ways. */
function endpointAddresses({ endpoints, clusterAgents, clusterAgent }: Omit<InventoryFacts, 'nowMs'>): ReadonlySet<Ipv4Address> {
  const own = endpoints.filter((one) => clusterAgentOf(one, clusterAgents) === clusterAgent.name);
  return new Set(own.flatMap(({ spec }) => parseIpv4Address(readNonEmptyText(spec, 'ipAddr') ?? '') ?? []));
}

/** Reads the address from the name of the object: the one in the status may be edited. */
function learnedHosts({ hostStatuses, clusterAgent, endpoints, clusterAgents }: Omit<InventoryFacts, 'nowMs'>): LearnedHost[] {
  const agents = agentsByEndpoint(endpoints, clusterAgents);
  return hostStatuses.flatMap((object) => {
    const host = readHost(object);
    const address = parseIpv4Address(parseHostStatusName(host.name)?.address ?? '');
    const isOwn = claimOf(object, { name: clusterAgent.name, clusterAgents: agents }) === 'own';
    return isOwn && address !== undefined && host.mode === 'dhcp' ? [{ address, host, object }] : [];
  });
}

function toCandidate(learned: LearnedHost, { clusterAgent }: Omit<InventoryFacts, 'nowMs'>): Candidate[] {
  const { binding, macAddress } = learned.host;
  if (binding.kind === 'bound')
    return canBeBound(binding.macAddress) ? [{ ...learned, macAddress: binding.macAddress, isByAnnotation: true }] : [];
  if (binding.kind === 'none' || !clusterAgent.enableBindDhcpIP || macAddress === undefined) return [];
  return canBeBound(macAddress) ? [{ ...learned, macAddress, isByAnnotation: false }] : [];
}

function toRelease({ address, host, object }: LearnedHost): LeaseRelease[] {
  const beforeMs = readTime(object.metadata.annotations?.[RELEASE_LEASE_ANNOTATION]);
  if (beforeMs === undefined) return [];
  return [{ ipAddress: formatIpv4Address(address), hostStatus: host.name, beforeMs: beforeMs + WITHIN_SECOND_MS }];
}

/** No client has these addresses; the predecessor wrote zeros for unknown values. */
function canBeBound(macAddress: MacAddress): boolean {
  return !isGroupMacAddress(macAddress) && macAddress !== '00:00:00:00:00:00';
}

/** Annotations come first, then the address in use, then the lowest address. */
function compareCandidates(one: Candidate, other: Candidate): number {
  return rank(one) - rank(other) || one.address - other.address;
}

function rank({ isByAnnotation, host }: Candidate): number {
  return (isByAnnotation ? 0 : 2) + (host.isActive === true ? 0 : 1);
}

/** The first candidate of each client. */
function onePerClient(candidates: readonly Candidate[]): ReadonlyMap<MacAddress, Candidate> {
  const byClient = new Map<MacAddress, Candidate>();
  for (const one of candidates) if (!byClient.has(one.macAddress)) byClient.set(one.macAddress, one);
  return byClient;
}

function toBinding({ address, macAddress, host, isByAnnotation, object }: Candidate): BoundAddress {
  return {
    ipAddress: formatIpv4Address(address),
    macAddress,
    hostStatus: host.name,
    isByAnnotation,
    isActive: host.isActive === true,
    changedAtMs: readTime(readNonEmptyText(object.status, 'lastUpdateTime')) ?? 0,
  };
}

type BindingReason = 'BindingUnreadable' | 'BoundElsewhere' | 'BoundAddressInUse';

function warning({ object: { metadata } }: LearnedHost, reason: BindingReason, message: string): HostEvent {
  return {
    regarding: { kind: 'HostStatus', name: metadata.name, uid: metadata.uid },
    event: { type: 'Warning', reason, message },
  };
}

function unreadable(learned: LearnedHost): HostEvent[] {
  const { binding } = learned.host;
  if (binding.kind === 'bound' && !canBeBound(binding.macAddress))
    return [
      warning(
        learned,
        'BindingUnreadable',
        `no client has the MAC address ${binding.macAddress}: correct the annotation, or remove it`,
      ),
    ];
  if (binding.kind !== 'unreadable') return [];
  const text = JSON.stringify(binding.text.slice(0, 64));
  return [
    warning(learned, 'BindingUnreadable', `${text} is neither a MAC address nor none: correct the annotation, or remove it`),
  ];
}

function unreadableRelease(learned: LearnedHost): HostEvent[] {
  const annotation = learned.object.metadata.annotations?.[RELEASE_LEASE_ANNOTATION];
  if (annotation === undefined || readTime(annotation) !== undefined) return [];
  const text = JSON.stringify(annotation.slice(0, 64));
  const message = `${RELEASE_LEASE_ANNOTATION} is ${text}, which is not a time: run vmdhcp-agent release, or remove the annotation`;
  return [warning(learned, 'BindingUnreadable', message)];
}

/** A binding by the switch gives way without an Event. */
function boundElsewhere(left: Candidate, byClient: ReadonlyMap<MacAddress, Candidate>): HostEvent[] {
  const other = byClient.get(left.macAddress);
  if (!left.isByAnnotation || other === undefined || other === left) return [];
  const message = `${left.macAddress} is bound to ${formatIpv4Address(other.address)} by HostStatus ${other.host.name}: set the annotation of one of them to none`;
  return [warning(left, 'BoundElsewhere', message)];
}

function inUse(chosen: readonly Candidate[], { leases = [] }: Omit<InventoryFacts, 'nowMs'>): HostEvent[] {
  const clients = new Map(leases.map(({ ipAddress, macAddress }) => [parseIpv4Address(ipAddress), parseMacAddress(macAddress)]));
  return chosen.flatMap((one) => {
    const client = clients.get(one.address);
    if (!one.isByAnnotation || client === undefined || client === one.macAddress) return [];
    const message = `${client} has the lease of ${formatIpv4Address(one.address)}, which is bound to ${one.macAddress}: that client gets the address when it requests it and the other host does not answer`;
    return [warning(one, 'BoundAddressInUse', message)];
  });
}
