/**
 * Finds who last had an address that no client has now, or which address a client without one last had, from the records of
 * assignments.
 */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { type ClientSubject, describeMissingRight } from '@vmdhcp/explain';
import type { ClusterReader } from '@vmdhcp/explain/observe';
import { currentRecords, describeNoRecords, readAudit } from '@vmdhcp/explain/observe';
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { type AssignmentRecord, END_REASONS, lastEnded } from '@vmdhcp/reconciler/audit';
import { type AuditRow, toRow } from '../output/audit-rows.js';

export interface LastAssignments {
  /** One for each pool that has a record of it. */
  readonly assignments: readonly AuditRow[];
  /** Why it is not known. */
  readonly problem?: string;
}

interface Records {
  readonly namespace: string;
  /** The pools that could be read. */
  readonly pools: readonly KubernetesObject[];
}

/** @throws CommandError if the API server does not answer. */
export async function findLastOwners(
  reader: ClusterReader,
  subject: ClientSubject,
  { namespace, pools }: Records,
): Promise<LastAssignments> {
  const about = subject.kind === 'address' ? formatIpv4Address(subject.address) : subject.macAddress;
  const stored = await readAudit(reader, namespace, about);
  if (stored.kind === 'refused')
    return { assignments: [], problem: `the records of assignments: ${describeMissingRight(stored.right)}` };
  if (stored.kind === 'none') return { assignments: [], problem: describeNoRecords(namespace) };
  const records = currentRecords(stored, new Map(pools.map((pool) => [keyOf(pool), pool])), reader.nowMs);
  const assignments = [...records].flatMap(([pool, ofPool]) => {
    const last = lastEnded(ofPool.records.filter((record) => isAbout(subject, record)));
    return last === undefined ? [] : [toRow(pool, last)];
  });
  return assignments.length > 0 ? { assignments } : { assignments, problem: 'no earlier assignment of it is recorded' };
}

function isAbout(subject: ClientSubject, record: AssignmentRecord): boolean {
  return subject.kind === 'address' ? record.address === subject.address : record.macAddress === subject.macAddress;
}

/** For people, one line each. */
export function lastOwnerLines({ assignments, problem }: LastAssignments): string[] {
  const known = assignments.map((row) => {
    const machine = row.virtualMachine === undefined ? 'no known virtual machine' : row.virtualMachine;
    const which = row.interface === undefined ? '' : `, interface ${row.interface}`;
    const why = row.ended === undefined ? '' : `: ${END_REASONS[row.ended]} (${row.ended})`;
    return `  ${row.address} of IPPool ${row.pool} was last assigned to ${machine}${which}, ${row.macAddress}, until ${endOf(row)}${why}`;
  });
  return [...known, ...(problem === undefined ? [] : [`  who had it last is not known: ${problem}`])];
}

/** If the moment is not known exactly, it is between two times. */
function endOf({ to = '', toNotBefore }: AuditRow): string {
  return toNotBefore === undefined ? to : `a time between ${toNotBefore} and ${to}`;
}
