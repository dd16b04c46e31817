/** The Lease of a group: its leader, the leader's report, and the pools that are suspended for it. */
import {
  AGENT_REPORT_ANNOTATION,
  type AgentReport,
  parseAgentReport,
  readSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { cutText, type KubernetesObject, readText } from '@vmdhcp/kube-runtime';

export interface GroupLeaseReading {
  /** Undefined if there is none. */
  readonly object: KubernetesObject | undefined;
  /** True if a replica is leader, or may still believe so. */
  readonly isLive: boolean;
  /** The pod of the leader; empty if there is none. */
  readonly leader: string;
  /** Empty without a leader. */
  readonly report: AgentReport;
  /** The pools that the last leader was configured with. */
  readonly known: ReadonlySet<string>;
  readonly suspended: ReadonlySet<string>;
  /** Pools that the leader knew to be suspended when it wrote its report, and that are still suspended. */
  readonly seen: ReadonlySet<string>;
}

/** @param isStale - true if it was not renewed for so long that the leadership is over. */
export function readGroupLease(object: KubernetesObject | undefined, isStale: boolean): GroupLeaseReading {
  const { annotations = {} } = object?.metadata ?? {};
  const reportText = annotations[AGENT_REPORT_ANNOTATION];
  const report = parseAgentReport(reportText);
  const suspended = readSuspendedPools(annotations[SUSPENDED_POOLS_ANNOTATION]);
  const read = readSuspendedPools(annotations[SUSPENDED_POOLS_SEEN_ANNOTATION]);
  // A leader without a report is not one of these agents.
  const seen = [...suspended.since].filter(([key, turn]) => reportText !== undefined && read.since.has(key) && read.turn >= turn);
  const content = {
    object,
    known: new Set(report.keys()),
    suspended: new Set(suspended.since.keys()),
    seen: new Set(seen.map(([key]) => key)),
  };
  // The name of a pod has at most 253 characters.
  const [leader = ''] = cutText(readText(object?.spec, 'holderIdentity') ?? '', 512).split('_');
  if (leader === '' || isStale) return { ...content, isLive: false, leader: '', report: new Map() };
  return { ...content, isLive: true, leader, report };
}
