/** The Lease of a group: who leads, what the leader says, and which pools are withheld from it. */
import { WITHHELD_POOLS_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readText } from '../object/read-field.js';
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
  readonly withheld: ReadonlySet<string>;
}

/** @param isStale - true: nobody has renewed it for so long that its lead is over. */
export function readGroupLease(object: KubernetesObject | undefined, isStale: boolean): GroupLease {
  const { annotations = {} } = object?.metadata ?? {};
  const withheld = parseWithheldPools(annotations[WITHHELD_POOLS_ANNOTATION]);
  const [leader = ''] = (readText(object?.spec, 'holderIdentity') ?? '').split('_');
  if (leader === '' || isStale) return { object, isLive: false, leader: '', report: new Map(), withheld };
  return { object, isLive: true, leader, report: parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]), withheld };
}

export function formatWithheldPools(poolKeys: Iterable<string>): string {
  return JSON.stringify([...poolKeys].toSorted());
}

/** The pools that are withheld; none where it cannot be read. */
export function parseWithheldPools(text: string | undefined): ReadonlySet<string> {
  try {
    const keys: unknown = JSON.parse(text ?? '[]');
    return new Set(Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []);
  } catch {
    return new Set();
  }
}
