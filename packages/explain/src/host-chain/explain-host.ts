/**
 * Explains why a bare-metal host has its address, or none, and whether its management controller answers. It decides nothing
 * itself: the conditions of the ClusterAgent, the HostStatus and the Events say what the controller and the agents found, and
 * this puts it in order of cause and effect.
 */

import {
  type ClusterAgentSettings,
  describeHostProblem,
  hostEndpointProblems,
  type ObservedHost,
  readClusterAgent,
  readHost,
} from '@vmdhcp/bare-metal';
import { cidrContains, formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { type Condition, type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { firstTrouble, worstOf } from '../chain/address-chain.js';
import { isStaleLease } from '../chain/agent-links.js';
import { eventsAbout } from '../chain/chain-events.js';
import type { Observed } from '../chain/chain-observation.js';
import type { FoundHost } from './find-hosts.js';
import { type HostChain, type HostFinding, type HostLinkFacts, hostFinding, toHostLinks } from './host-chain.js';
import type { HostLinkName } from './host-links.js';
import { HOST_REASON_LINKS, type HostChainReason } from './host-reason-links.js';

/** What a host's way is explained from: its objects, its lease and its Events. */
export interface HostObservation extends FoundHost {
  /** The Lease of the agents of its ClusterAgent. */
  readonly lease: Observed;
  /** Events of the HostStatus and the HostEndpoint; none if they could not be read. */
  readonly events: readonly KubernetesObject[];
  /** By the clock of the API server. */
  readonly nowMs: number;
}

interface Reading {
  readonly facts: readonly HostLinkFacts[];
  readonly findings: readonly HostFinding[];
}

const NOTHING: Reading = { facts: [], findings: [] };

/** Never throws, whatever the objects contain. */
export function explainHost(observation: HostObservation): HostChain {
  const host = observation.hostStatus && readHost(observation.hostStatus);
  const readings = [
    readNetwork(observation),
    readAgents(observation),
    readEndpoint(observation),
    readLease(observation, host),
    readHostObject(observation, host),
    readManagementController(observation, host),
  ];
  const links = toHostLinks(
    readings.flatMap(({ facts }) => facts),
    readings.flatMap(({ findings }) => findings),
  );
  const trouble = firstTrouble(links);
  return {
    address: observation.address,
    ...(host?.macAddress !== undefined && { macAddress: host.macAddress }),
    host: host?.name,
    hasAddress: host !== undefined && (host.mode === 'hostEndpoint' || host.isActive === true),
    state: worstOf(links.map(({ state }) => state)),
    links,
    ...(trouble !== undefined && { brokenAt: trouble.link }),
  };
}

function readNetwork({ clusterAgent, clusterAgentName, address }: HostObservation): Reading {
  const link = 'cluster-agent';
  if (clusterAgent === undefined) {
    const name = clusterAgentName ?? '';
    const message = name === '' ? '' : `ClusterAgent ${name} does not exist`;
    return { facts: [{ link, facts: 'there is none' }], findings: [hostFinding('ClusterAgentMissing', message)] };
  }
  const findings = findingsOfConditions(clusterAgent, 'cluster-agent');
  const facts = describeNetwork(clusterAgent, address);
  return { facts: [{ link, object: `ClusterAgent ${clusterAgent.metadata.name}`, facts }], findings };
}

function findingsOfConditions({ status }: KubernetesObject, link: HostLinkName): HostFinding[] {
  return readConditions(status)
    .filter(isHostTrouble)
    .flatMap((condition) => findingOf(condition, link));
}

/** True if a condition of a ClusterAgent is trouble: `False` for these two types, `True` for all others. */
export function isHostTrouble({ type, status }: Condition): boolean {
  return status === (type === 'Ready' || type === 'Valid' ? 'False' : 'True');
}

function findingOf({ reason = '', message = '' }: Condition, link: HostLinkName): HostFinding[] {
  return isReason(reason) && HOST_REASON_LINKS[reason].link === link ? [hostFinding(reason, message)] : [];
}

function isReason(text: string): text is HostChainReason {
  return Object.hasOwn(HOST_REASON_LINKS, text);
}

function describeNetwork(clusterAgent: KubernetesObject, address: string | undefined): string {
  const settings = readClusterAgent(clusterAgent);
  const { subnet, range } = settings;
  if (!settings.enableDhcpServer) return 'its agents lease no addresses';
  const place = subnet === undefined ? 'no subnet' : `${formatIpv4Address(subnet.network)}/${subnet.prefixLength}`;
  const which = range === undefined ? '' : `, ${formatIpv4Address(range.first)} to ${formatIpv4Address(range.last)}`;
  const free = readField(clusterAgent.status, 'addresses', 'available');
  const count = typeof free === 'number' ? `: ${free} free` : '';
  return `${place}${which}${count}${describeRole(settings, address)}`;
}

/** Addresses that no host may have. */
function describeRole({ self, gateway }: ClusterAgentSettings, text: string | undefined): string {
  const address = parseIpv4Address(text ?? '');
  if (address === undefined || (address !== self && address !== gateway)) return '';
  return `; ${text} is ${address === self ? 'selfIp, the address of its agents' : 'the gateway'}`;
}

function readAgents({ clusterAgent, lease, nowMs }: HostObservation): Reading {
  if (clusterAgent === undefined) return NOTHING;
  const found = findingsOfConditions(clusterAgent, 'host-agents');
  const link = { link: 'host-agents', object: `Deployment agent-${clusterAgent.metadata.name}` } as const;
  const isLeaderless = lease.kind === 'missing' || (lease.kind === 'found' && isStaleLease(lease.object, nowMs));
  if (isLeaderless)
    return { facts: [{ ...link, facts: 'has no leader' }], findings: [...found, hostFinding('HostAgentsNotLeading')] };
  if (lease.kind !== 'found')
    return { facts: [{ ...link, facts: 'its Lease cannot be read', isUnknown: true }], findings: found };
  const holder = readText(lease.object.spec, 'holderIdentity') ?? '';
  return { facts: [{ ...link, facts: `${holder.replace(/_[^_]*$/, '')} is leader` }], findings: found };
}

function readEndpoint(observation: HostObservation): Reading {
  const { hostEndpoint, hostStatus, clusterAgent, events } = observation;
  if (hostEndpoint === undefined) return NOTHING;
  const { name } = hostEndpoint.metadata;
  const network = clusterAgent && readClusterAgent(clusterAgent);
  const problems = hostEndpointProblems(hostEndpoint, network).map(describeHostProblem);
  const invalid = problems.length === 0 ? [] : [hostFinding('HostEndpointInvalid', problems.join('. '))];
  const reported = findingsOfEvents(events, 'HostEndpoint', name).filter(({ reason }) => !hasGone(reason, observation));
  const pending =
    hostStatus === undefined && invalid.length === 0 && reported.length === 0 ? [hostFinding('HostStatusPending')] : [];
  const facts = `names ${readText(hostEndpoint.spec, 'ipAddr') ?? 'no address'}`;
  return {
    facts: [{ link: 'host-endpoint', object: `HostEndpoint ${name}`, facts }],
    findings: [...invalid, ...reported, ...pending],
  };
}

/** Events stay for an hour: ignore those that the objects contradict. */
function hasGone(reason: HostChainReason, { hostStatus, clusterAgent }: HostObservation): boolean {
  if (reason === 'ClusterAgentMissing') return clusterAgent !== undefined;
  return hostStatus !== undefined || reason === 'HostEndpointInvalid';
}

function findingsOfEvents(events: readonly KubernetesObject[], kind: 'HostStatus' | 'HostEndpoint', name: string): HostFinding[] {
  return eventsAbout(events, kind, { namespace: '', name }).flatMap(({ reason, message }) =>
    isReason(reason) ? [hostFinding(reason, message)] : [],
  );
}

function readLease(observation: HostObservation, host: ObservedHost | undefined): Reading {
  const link = 'lease';
  if (host === undefined) return readNoLease(observation);
  if (host.mode === 'hostEndpoint')
    return { facts: [{ link, facts: 'none: the host has an address of its own', isAbsent: true }], findings: [] };
  const { address = '', events } = observation;
  const client = host.macAddress ?? 'a client whose MAC address is not known';
  const notes = findingsOfEvents(events, 'HostStatus', host.name).filter(
    ({ reason }) => HOST_REASON_LINKS[reason].link === 'lease' && reason !== 'LeaseEnded',
  );
  if (host.isActive === undefined) return { facts: [{ link, facts: 'not known', isUnknown: true }], findings: notes };
  if (host.isActive) return { facts: [{ link, facts: `${client} has a lease of ${address}` }], findings: notes };
  const ended = hostFinding('LeaseEnded', `${client} has no lease of ${address} now`);
  return { facts: [{ link, facts: 'none now' }], findings: [ended, ...notes] };
}

function readNoLease({ address = '', hostEndpoint, clusterAgent }: HostObservation): Reading {
  if (hostEndpoint !== undefined || clusterAgent === undefined) return NOTHING;
  const facts = describeFree(readClusterAgent(clusterAgent), address);
  return { facts: [{ link: 'lease', facts }], findings: [hostFinding('HostAddressFree')] };
}

function describeFree({ range, subnet }: ClusterAgentSettings, text: string): string {
  const address = parseIpv4Address(text);
  const isInRange = address !== undefined && range !== undefined && address >= range.first && address <= range.last;
  if (isInRange) return `no client has a lease of ${text}`;
  const isThere = address !== undefined && subnet !== undefined && cidrContains(subnet, address);
  return `${text} is ${isThere ? 'in the subnet, and outside of' : 'outside of'} the range that is leased`;
}

function readHostObject({ hostStatus }: HostObservation, host: ObservedHost | undefined): Reading {
  if (hostStatus === undefined || host === undefined) return NOTHING;
  const { binding } = host;
  const kinds = {
    'by-switch': 'the ClusterAgent decides whether the address is bound',
    none: 'not bound',
    unreadable: 'not bound',
  };
  const bound = binding.kind === 'bound' ? `bound to ${binding.macAddress}` : kinds[binding.kind];
  const findings = binding.kind === 'unreadable' ? [hostFinding('BindingUnreadable')] : [];
  const facts = host.mode === 'hostEndpoint' ? 'of a HostEndpoint' : bound;
  return { facts: [{ link: 'host', object: `HostStatus ${hostStatus.metadata.name}`, facts }], findings };
}

function readManagementController({ hostStatus, address, events }: HostObservation, host: ObservedHost | undefined): Reading {
  if (hostStatus === undefined || host === undefined) return NOTHING;
  const link = 'management-controller';
  const { https, port } = host.connection;
  const place = `${https ? 'https' : 'http'}://${address}:${port}`;
  if (host.isHealthy) return { facts: [{ link, facts: `${place} answers` }], findings: [] };
  const isKnown = ['healthy', 'healthReady'].some((name) => readField(hostStatus.status, name) !== undefined);
  if (!isKnown) return { facts: [{ link, facts: `${place} has not been queried yet`, isUnknown: true }], findings: [] };
  const about = eventsAbout(events, 'HostStatus', { namespace: '', name: host.name });
  const message = about.find(({ reason }) => reason === 'HostUnhealthy')?.message;
  return { facts: [{ link, facts: `${place} does not answer correctly` }], findings: [hostFinding('HostUnhealthy', message)] };
}
