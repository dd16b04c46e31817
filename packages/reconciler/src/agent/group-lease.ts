/** The Lease of a group: who leads, what the leader says, and which pools are withheld from it. */
import { WITHHELD_POOLS_ANNOTATION, WITHHELD_POOLS_SEEN_ANNOTATION } from '@vmdhcp/ippool-api';
import { cutText } from '../object/cut-text.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readList, readText } from '../object/read-field.js';
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
  readonly withheld: ReadonlySet<string>;
  /** True: the report is of a leader that has read which pools are withheld, and acts by it. */
  readonly isSeen: boolean;
}

/** @param isStale - true: nobody has renewed it for so long that its lead is over. */
export function readGroupLease(object: KubernetesObject | undefined, isStale: boolean): GroupLease {
  const { annotations = {} } = object?.metadata ?? {};
  const reportText = annotations[AGENT_REPORT_ANNOTATION];
  const report = parseAgentReport(reportText);
  const said = {
    object,
    known: new Set(report.keys()),
    withheld: parseWithheldPools(annotations[WITHHELD_POOLS_ANNOTATION]),
    isSeen: reportText !== undefined && annotations[WITHHELD_POOLS_SEEN_ANNOTATION] === annotations[WITHHELD_POOLS_ANNOTATION],
  };
  // The name of a pod has at most 253 characters.
  const [leader = ''] = cutText(readText(object?.spec, 'holderIdentity') ?? '', 512).split('_');
  if (leader === '' || isStale) return { ...said, isLive: false, leader: '', report: new Map() };
  return { ...said, isLive: true, leader, report };
}

/** @param before - what stands there now: the next one is another text, also where it names the same pools. */
export function formatWithheldPools(poolKeys: Iterable<string>, before?: string): string {
  return JSON.stringify({ turn: readTurn(before) + 1, pools: [...poolKeys].toSorted() });
}

/** The pools that are withheld; none where it cannot be read. */
export function parseWithheldPools(text: string | undefined): ReadonlySet<string> {
  return new Set(readList(parse(text), 'pools').filter((key) => typeof key === 'string'));
}

function readTurn(text: string | undefined): number {
  const turn = readField(parse(text), 'turn');
  return typeof turn === 'number' ? turn : 0;
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
}
