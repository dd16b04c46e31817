/** The Lease of a group: who leads, what the leader says, and which pools are suspended for it. */
import { SUSPENDED_POOLS_ANNOTATION, SUSPENDED_POOLS_SEEN_ANNOTATION } from '@vmdhcp/ippool-api';
import { cutText, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

import { AGENT_REPORT_ANNOTATION, type AgentReport, parseAgentReport } from './agent-report.js';

export interface GroupLease {
  /** Undefined: there is none. */
  readonly object: KubernetesObject | undefined;
  /** True: somebody leads, or may still believe so. */
  readonly isLive: boolean;
  /** The pod that leads; empty where none does. */
  readonly leader: string;
  /** Empty where nobody leads. */
  readonly report: AgentReport;
  /** Pools that whoever led last was told of. */
  readonly known: ReadonlySet<string>;
  readonly suspended: ReadonlySet<string>;
  /** Suspended pools of which the leader knew when it wrote its report, and that have been suspended ever since. */
  readonly seen: ReadonlySet<string>;
}

/** @param isStale - true: nobody has renewed it for so long that its lead is over. */
export function readGroupLease(object: KubernetesObject | undefined, isStale: boolean): GroupLease {
  const { annotations = {} } = object?.metadata ?? {};
  const reportText = annotations[AGENT_REPORT_ANNOTATION];
  const report = parseAgentReport(reportText);
  const suspended = readSuspendedPools(annotations[SUSPENDED_POOLS_ANNOTATION]);
  const read = readSuspendedPools(annotations[SUSPENDED_POOLS_SEEN_ANNOTATION]);
  // A leader without a report is not one of these agents.
  const seen = [...suspended.since].filter(([key, turn]) => reportText !== undefined && read.since.has(key) && read.turn >= turn);
  const said = {
    object,
    known: new Set(report.keys()),
    suspended: new Set(suspended.since.keys()),
    seen: new Set(seen.map(([key]) => key)),
  };
  // The name of a pod has at most 253 characters.
  const [leader = ''] = cutText(readText(object?.spec, 'holderIdentity') ?? '', 512).split('_');
  if (leader === '' || isStale) return { ...said, isLive: false, leader: '', report: new Map() };
  return { ...said, isLive: true, leader, report };
}

/**
 * What the annotation says next: `turn` counts its texts, and `since` has for each of `pools` the turn from which on it has been
 * suspended without a break. A leader that has read any of those turns acts by all of them, so one more pool makes no
 * report about the others void.
 *
 * @param before - what stands there now.
 */
export function formatSuspendedPools(poolKeys: Iterable<string>, before?: string): string {
  const known = readSuspendedPools(before);
  const turn = known.turn + 1;
  const pools = [...poolKeys].toSorted();
  return JSON.stringify({ turn, pools, since: pools.map((key) => known.since.get(key) ?? turn) });
}

/** The pools that are suspended; none where it cannot be read. */
export function parseSuspendedPools(text: string | undefined): ReadonlySet<string> {
  return new Set(readSuspendedPools(text).since.keys());
}

interface SuspendedPools {
  readonly turn: number;
  /** Pool to the first turn of those in which it has been suspended without a break. */
  readonly since: ReadonlyMap<string, number>;
}

function readSuspendedPools(text: string | undefined): SuspendedPools {
  const value = parse(text);
  const turn = readNumber(readField(value, 'turn')) ?? 0;
  const turns = readField(value, 'since');
  const since = readList(value, 'pools').flatMap((key, index) => {
    const first = Array.isArray(turns) ? readNumber(turns[index]) : undefined;
    return typeof key === 'string' ? [[key, first ?? turn] as const] : [];
  });
  return { turn, since: new Map(since) };
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
}
