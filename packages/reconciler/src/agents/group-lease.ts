/** The Lease of a group: who leads, what the leader says, and which pools are suspended for it. */
import {
  AGENT_REPORT_ANNOTATION,
  type AgentReport,
  parseAgentReport,
  readSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { cutText, type KubernetesObject, readText } from '@vmdhcp/kube-runtime';

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
