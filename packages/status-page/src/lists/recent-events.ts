/** Kubernetes Events as the page shows them: of one pool, of virtual machines' addresses, or of agents. */
import { cutText, type KubernetesObject, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import type { EventsOf, RecentEvent, RecentEventsPage } from '../model/page-data.js';

export interface EventQuery {
  readonly of: EventsOf;
  /** `namespace/name`, of `pools`: this pool alone. Empty: all pools. */
  readonly pool: string;
}

/** Which Events are listed. */
export interface EventSelection {
  /** Undefined: in all namespaces. */
  readonly namespace: string | undefined;
  /** Of involved objects of this kind alone; undefined: of all kinds. */
  readonly kind: string | undefined;
  /** Of involved objects of this name alone; undefined: of all names. */
  readonly name: string | undefined;
}

const MOST_EVENTS = 20;
const MOST_MESSAGE_OCTETS = 1_024;
/** What agents consist of. */
const KINDS_OF_AGENTS: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'DaemonSet', 'Pod', 'Lease']);
const KIND_OF_POOLS = 'IPPool';
const KIND_OF_MACHINES = 'VirtualMachineNetworkConfig';

/** Where the page may read Events. */
export interface EventNamespaces {
  readonly onlyNamespace: string | undefined;
  readonly agentsNamespace: string | undefined;
}

/** What is to be listed for a part of the page; undefined: this server has no such Events. */
export function selectEvents(
  { of, pool }: EventQuery,
  { onlyNamespace, agentsNamespace }: EventNamespaces,
): EventSelection | undefined {
  if (of === 'agents')
    return agentsNamespace === undefined ? undefined : { namespace: agentsNamespace, kind: undefined, name: undefined };
  if (of === 'machines') return { namespace: onlyNamespace, kind: KIND_OF_MACHINES, name: undefined };
  const [namespace, name] = pool === '' ? [onlyNamespace, undefined] : pool.split('/', 2);
  return onlyNamespace === undefined || namespace === onlyNamespace ? { namespace, kind: KIND_OF_POOLS, name } : undefined;
}

/** Those of the kinds that were asked for, the newest first, bounded; of several with the same words, one row. An API server that knows no selection gives others too. */
export function toRecentEvents(
  of: EventsOf,
  { kind, name }: EventSelection,
  events: Iterable<KubernetesObject>,
): RecentEventsPage {
  const rows = [...events].map(toRecentEvent).filter((event) => {
    if (of === 'agents') return KINDS_OF_AGENTS.has(event.kind);
    return event.kind === kind && (name === undefined || event.name === name);
  });
  const sorted = rows.toSorted((one, other) => (other.lastAtMs ?? 0) - (one.lastAtMs ?? 0));
  return { rows: joinSame(sorted).slice(0, MOST_EVENTS) };
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

/** Both forms of an Event: counted, and of `events.k8s.io` with a series. */
function toRecentEvent(event: KubernetesObject): RecentEvent {
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
