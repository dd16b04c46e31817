/** The Kubernetes Events for the page: about one pool, addresses and wake-ups of virtual machines, agents, or bare-metal hosts. */

import { EVENT_COMPONENT } from '@vmdhcp/ippool-api/resources';
import { cutText, type KubernetesObject, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import type { EventsOf, RecentEvent, RecentEventsPage, Section } from '../model/page-data.js';

/** Which Events are asked for. */
export interface EventQuery {
  readonly of: EventsOf;
  /** `namespace/name`, for `pools`: only this pool. Empty for all pools. */
  readonly pool: string;
  /** The user's rights, because a wake-up names a virtual machine. */
  readonly sections: ReadonlySet<Section>;
}

/** Which Events are listed. */
export interface EventSelection {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** Only involved objects of this kind; undefined for all kinds. */
  readonly kind: string | undefined;
  /** Only involved objects of this name; undefined for all names. */
  readonly name: string | undefined;
  /** Only this reporter; undefined for all. */
  readonly component: string | undefined;
}

const MOST_EVENTS = 20;
const MOST_MESSAGE_OCTETS = 1_024;
/** The kinds of objects that agents consist of. */
const KINDS_OF_AGENTS: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'Pod', 'Lease']);
const KIND_OF_POOLS = 'IPPool';
/** KubeVirt also reports about virtual machines, but not about addresses. A config without a virtual machine has the Events itself. */
const OF_MACHINES = [
  { kind: 'VirtualMachine', component: EVENT_COMPONENT },
  { kind: 'VirtualMachineNetworkConfig', component: undefined },
];

/** The namespace of Events about objects without a namespace. */
export const CLUSTER_WIDE_EVENTS_NAMESPACE = 'default';
const OF_WAKE_UPS = [{ kind: 'VirtualMachine', component: EVENT_COMPONENT }];
const KIND_OF_WAKE_CONFIGS = 'WolConfig';
/** In no other namespace: tenants can write Events there that claim to be about these objects. */
const OF_WAKE_CONFIGS = [{ kind: KIND_OF_WAKE_CONFIGS, component: undefined, namespace: CLUSTER_WIDE_EVENTS_NAMESPACE }];
/** The right to the section covers only these kinds. */
const OF_HOSTS = ['HostStatus', 'ClusterAgent'].map((kind) => ({
  kind,
  component: undefined,
  namespace: CLUSTER_WIDE_EVENTS_NAMESPACE,
}));
const WAKE_UP = /^WakeUp/;

/** Where the page may read Events. */
export interface EventNamespaces {
  readonly onlyNamespace: string | undefined;
  readonly agentsNamespace: string | undefined;
}

/** The lists that a section needs; empty if this server has no such Events. */
export function selectEvents(
  { of, pool, sections }: EventQuery,
  { onlyNamespace, agentsNamespace }: EventNamespaces,
): readonly EventSelection[] {
  const all = { kind: undefined, name: undefined, component: undefined };
  if (of === 'agents') return agentsNamespace === undefined ? [] : [{ ...all, namespace: agentsNamespace }];
  if (of !== 'pools')
    return selectionsOf(of, sections, onlyNamespace).map((one) => ({ ...all, namespace: onlyNamespace, ...one }));
  const [namespace, name] = pool === '' ? [onlyNamespace, undefined] : pool.split('/', 2);
  return onlyNamespace === undefined || namespace === onlyNamespace ? [{ ...all, namespace, kind: KIND_OF_POOLS, name }] : [];
}

function selectionsOf(
  of: 'machines' | 'wake-on-lan' | 'hosts',
  sections: EventQuery['sections'],
  onlyNamespace: string | undefined,
) {
  if (of === 'machines') return OF_MACHINES;
  const hasOthers = onlyNamespace === undefined || onlyNamespace === CLUSTER_WIDE_EVENTS_NAMESPACE;
  if (of === 'hosts') return hasOthers ? OF_HOSTS : [];
  return [...(sections.has('machines') ? OF_WAKE_UPS : []), ...(hasOthers ? OF_WAKE_CONFIGS : [])];
}

/** The selection of Events that explain unhealthy hosts; undefined if the page may not read it. */
export function selectHostEvents(namespaces: EventNamespaces): EventSelection | undefined {
  return selectEvents({ of: 'hosts', pool: '', sections: new Set() }, namespaces)[0];
}

/** The controller reports both the address and the wake-ups of a virtual machine, which belong to two sections. */
export function isOfPart(event: KubernetesObject, of: EventsOf): boolean {
  if (readText(event, 'involvedObject', 'kind') === KIND_OF_WAKE_CONFIGS) return of === 'wake-on-lan';
  const isWakeUp = WAKE_UP.test(readText(event, 'reason') ?? '');
  return of === 'wake-on-lan' ? isWakeUp : !(of === 'machines' && isWakeUp);
}

/**
 * The selected Events, newest first and limited, with one row for several with the same text. It filters again, because a server may ignore the
 * selection.
 */
export function newestRows(events: Iterable<KubernetesObject>, selection: EventSelection): readonly RecentEvent[] {
  const selected = [...events].filter((event) => isSelected(event, selection));
  return joinSame(selected.map(toRecentEvent).toSorted(byAge)).slice(0, MOST_EVENTS);
}

/** @param listed - the rows of each selection. */
export function toRecentEvents(listed: readonly (readonly RecentEvent[])[]): RecentEventsPage {
  return { rows: listed.flat().toSorted(byAge).slice(0, MOST_EVENTS) };
}

function byAge(one: RecentEvent, other: RecentEvent): number {
  return (other.lastAtMs ?? 0) - (one.lastAtMs ?? 0);
}

function isSelected(event: KubernetesObject, { namespace, kind, name, component }: EventSelection): boolean {
  return (
    (namespace === undefined || event.metadata.namespace === namespace) &&
    (kind === undefined || readText(event, 'involvedObject', 'kind') === kind) &&
    (name === undefined || readText(event, 'involvedObject', 'name') === name) &&
    (component === undefined || reporterOf(event) === component)
  );
}

function reporterOf(event: KubernetesObject): string | undefined {
  return readText(event, 'source', 'component') || readText(event, 'reportingComponent');
}

/** True if it is about agents of these groups: their Deployments, pods and Leases have the name of the group, or one that begins with it. */
export function isAboutGroups(event: KubernetesObject, groups: ReadonlySet<string>): boolean {
  if (!KINDS_OF_AGENTS.has(readText(event, 'involvedObject', 'kind') ?? '')) return false;
  const parts = (readText(event, 'involvedObject', 'name') ?? '').split('-');
  return parts.some((_part, index) => groups.has(parts.slice(0, index + 1).join('-')));
}

/** Each replica, and each process after a restart, reports by an Event of its own: with the same words, they are one row. @param rows - the newest first. */
function joinSame(rows: readonly RecentEvent[]): readonly RecentEvent[] {
  const joined = new Map<string, RecentEvent>();
  for (const row of rows) {
    const { kind, namespace, name, reason, message } = row;
    const key = JSON.stringify([kind, namespace, name, reason, message]);
    const newest = joined.get(key);
    joined.set(key, newest === undefined ? row : { ...newest, count: newest.count + row.count });
  }
  return [...joined.values()];
}

/** What the page reads of an Event, in bounds: anybody who may write Events can make them large. */
export function trimEvent(event: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = event;
  const { namespace, name } = metadata;
  const short = (...path: readonly string[]) => cutText(readText(event, ...path) ?? '', MOST_MESSAGE_OCTETS);
  const involved = ['kind', 'namespace', 'name'].map((field) => [field, short('involvedObject', field)]);
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    involvedObject: Object.fromEntries(involved),
    ...{ type: short('type'), reason: short('reason'), message: short('message') },
    source: { component: short('source', 'component') },
    reportingComponent: short('reportingComponent'),
    ...{ count: readField(event, 'count'), lastTimestamp: short('lastTimestamp'), eventTime: short('eventTime') },
    series: { count: readField(event, 'series', 'count'), lastObservedTime: short('series', 'lastObservedTime') },
  } as KubernetesObject;
}

/** Both forms of an Event: counted, and of `events.k8s.io` with a series. */
export function toRecentEvent(event: KubernetesObject): RecentEvent {
  const involved = (field: string) => readText(event, 'involvedObject', field) ?? '';
  const counts = [readField(event, 'series', 'count'), readField(event, 'count')];
  const times = [readText(event, 'series', 'lastObservedTime'), readText(event, 'lastTimestamp'), readText(event, 'eventTime')];
  const lastAtMs = times.map((time) => parseTime(time)).find((time) => !Number.isNaN(time));
  return {
    kind: involved('kind'),
    namespace: involved('namespace'),
    name: involved('name'),
    isWarning: readText(event, 'type') === 'Warning',
    reason: cutText(readText(event, 'reason') ?? '', MOST_MESSAGE_OCTETS),
    message: cutText(readText(event, 'message') ?? '', MOST_MESSAGE_OCTETS),
    count: counts.find((count) => typeof count === 'number') ?? 1,
    lastAtMs: lastAtMs ?? null,
  };
}
