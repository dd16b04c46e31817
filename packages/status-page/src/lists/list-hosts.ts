/** The bare-metal hosts for the page. */

import { HOST_REASON_LINKS, isHostTrouble } from '@vmdhcp/explain/hosts';
import { type Condition, type KubernetesObject, parseTime, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import type { BareMetalHost, HostCounts, HostsAgent, HostsPage, PageState } from '../model/page-data.js';
import { type Grave, sortGraves, toPageConditions, toPageReason, worstState } from '../reason/page-reason.js';
import { CLUSTER_WIDE_EVENTS_NAMESPACE, toRecentEvent } from './recent-events.js';

export interface HostsToRank {
  readonly hostStatuses: Iterable<KubernetesObject>;
  /** Why a host is not healthy, by its name: `causesIn` Events. */
  readonly causes: ReadonlyMap<string, string>;
}

export type RankedHosts = Pick<HostsPage, 'hosts' | 'counts'>;

/** All hosts; those that need action come first. */
export function rankHosts({ hostStatuses, causes }: HostsToRank): RankedHosts {
  const hosts = [...hostStatuses].map((status) => toHost(status, causes));
  const sorted = hosts.toSorted((one, other) => rankOf(one) - rankOf(other) || byName(one, other));
  return { hosts: sorted, counts: count(hosts) };
}

/** @param limit - the maximum number of hosts; Infinity for all. */
export function toHostsPage({ hosts, counts }: RankedHosts, clusterAgents: Iterable<KubernetesObject>, limit: number): HostsPage {
  return { clusterAgents: [...clusterAgents].map(toAgent).toSorted(byName), hosts: hosts.slice(0, limit), counts };
}

/** The message of each host's newest Event about its health. @param events - of the namespace that `selectHostEvents` names. */
export function causesIn(events: Iterable<KubernetesObject>): ReadonlyMap<string, string> {
  const about = [...events].filter(isUnhealthyHost).map(toRecentEvent);
  const sorted = about.toSorted((one, other) => (one.lastAtMs ?? 0) - (other.lastAtMs ?? 0));
  return new Map(sorted.map(({ name, message }) => [name, message]));
}

const UNHEALTHY = 'HostUnhealthy';

/** Hosts are in no namespace, so only an Event of a namespace that tenants do not write to is about one. */
function isUnhealthyHost(event: KubernetesObject): boolean {
  if (event.metadata.namespace !== CLUSTER_WIDE_EVENTS_NAMESPACE) return false;
  return readText(event, 'reason') === UNHEALTHY && readText(event, 'involvedObject', 'kind') === 'HostStatus';
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

/** Sorts hosts that need action first. */
function rankOf({ isHealthy }: BareMetalHost): number {
  return [false, null, true].indexOf(isHealthy);
}

function count(hosts: readonly BareMetalHost[]): HostCounts {
  const of = (isHealthy: boolean | null) => hosts.filter((host) => host.isHealthy === isHealthy).length;
  return { ok: of(true), broken: of(false), unknown: of(null) };
}

function toAgent({ metadata: { name }, status }: KubernetesObject): HostsAgent {
  const graves = readConditions(status).flatMap(graveOf);
  return {
    name,
    state: worstState(graves.map(({ state }) => state)),
    reasons: sortGraves(graves),
    conditions: toPageConditions(status),
  };
}

/** The severity, as in the explanation of a host. Good conditions are left out. */
function graveOf(condition: Condition): readonly Grave[] {
  const { reason, message } = condition;
  if (typeof reason !== 'string' || reason === '' || !isHostTrouble(condition)) return [];
  return [{ state: gravityOfHosts(reason), reason: toPageReason(reason, typeof message === 'string' ? message : '') }];
}

const GRAVITIES: Readonly<Record<string, { readonly gravity: PageState }>> = HOST_REASON_LINKS;

/** A reason of another version needs action. */
function gravityOfHosts(reason: string): PageState {
  return (Object.hasOwn(GRAVITIES, reason) ? GRAVITIES[reason]?.gravity : undefined) ?? 'broken';
}

function toHost({ metadata: { name }, status }: KubernetesObject, causes: ReadonlyMap<string, string>): BareMetalHost {
  const isHealthy = readField(status, 'healthy') ?? readField(status, 'healthReady');
  const countOf = (field: string) => {
    const value = readField(status, 'log', field);
    return typeof value === 'number' ? value : 0;
  };
  const updatedAtMs = parseTime(readText(status, 'lastUpdateTime'));
  return {
    name,
    clusterAgent: readText(status, 'clusterAgent') ?? '',
    address: readText(status, 'basic', 'ipAddr') ?? '',
    mac: readText(status, 'basic', 'mac') ?? '',
    type: readText(status, 'basic', 'type') ?? '',
    isHealthy: typeof isHealthy === 'boolean' ? isHealthy : null,
    reasons: isHealthy === false ? [toPageReason(UNHEALTHY, causes.get(name))] : [],
    hasLease: readField(status, 'basic', 'activeDhcpClient') === true,
    logEntries: countOf('totalLogAccount'),
    warnings: countOf('warningLogAccount'),
    latestWarning: (readText(status, 'log', 'lastestWarningLog', 'message') ?? '').slice(0, 1_024),
    updatedAtMs: Number.isNaN(updatedAtMs) ? null : updatedAtMs,
  };
}
