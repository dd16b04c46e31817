/**
 * What the leader of the agents says about each of its pools. It stands in an annotation of the Lease by which it leads, so
 * that heartbeat and report are one request, and the status of an IPPool has one writer.
 */
import { isRecord, readText } from '../object/read-field.js';

/** On the agents' Lease: JSON, `AgentReport`. */
export const AGENT_REPORT_ANNOTATION = 'network.harvesterhci.io/agent-report';

export interface PoolReport {
  /** True: clients of this pool are answered. */
  readonly serving: boolean;
  /** One word in CamelCase, and what it means; where it is not served. */
  readonly reason?: string;
  readonly message?: string;
}

/** By the `namespace/name` of a pool. */
export type AgentReport = ReadonlyMap<string, PoolReport>;

export function formatAgentReport(report: AgentReport): string {
  return JSON.stringify(Object.fromEntries([...report].toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

/** What can be read of a report; what cannot is as if it were not said. */
export function parseAgentReport(text: string | undefined): AgentReport {
  const report = new Map<string, PoolReport>();
  for (const [pool, entry] of Object.entries(parseRecord(text))) {
    if (!isRecord(entry) || typeof entry['serving'] !== 'boolean') continue;
    const reason = readText(entry, 'reason');
    const message = readText(entry, 'message');
    report.set(pool, { serving: entry['serving'], ...(reason && { reason }), ...(message && { message }) });
  }
  return report;
}

function parseRecord(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
