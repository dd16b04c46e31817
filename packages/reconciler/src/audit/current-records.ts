/** Combines records with the current IPPool, because the controller may not have stored the last changes, or may not run at all. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { networkOfPool } from '../network/network-problem.js';
import { readRecordedAddresses } from '../pool/recorded-addresses.js';
import type { AssignedClient, AssignmentRecord } from './assignment-record.js';
import { followPool } from './follow-pool.js';
import type { PoolRecords } from './owner-at.js';
import { openRecordsOf } from './pool-log.js';

/**
 * The records, plus those that follow from the IPPool: an assignment that it no longer contains has ended, at an unknown time.
 *
 * @param pool - undefined if it does not exist.
 */
export function withCurrent(stored: PoolRecords, pool: KubernetesObject | undefined, nowMs: number): PoolRecords {
  const bySerial = new Map(stored.records.map((record) => [record.serial, record]));
  const open = openRecordsOf({ records: bySerial });
  const current = pool === undefined ? [] : readRecordedAddresses(pool).assignments;
  const clients = current.map(({ address, macAddress }): AssignedClient => {
    const record = open.byAddress.get(address);
    if (record?.macAddress === macAddress) return record;
    return { address, macAddress, virtualMachine: undefined, uid: undefined, interface: undefined };
  });
  const { records } = followPool(open, clients, {
    network: pool === undefined ? '' : networkOfPool(pool),
    when: { notBeforeMs: Math.min(stored.completeUntilMs, nowMs), notAfterMs: nowMs },
    late: 'not-recorded',
    whyBegan: () => 'not-recorded',
    whyEnded: () => 'not-recorded',
    isInConflict: () => false,
  });
  for (const record of records) bySerial.set(record.serial, record);
  return { ...stored, records: inOrder([...bySerial.values()]) };
}

/** Oldest first. */
function inOrder(records: readonly AssignmentRecord[]): AssignmentRecord[] {
  return records.toSorted((one, other) => one.from.notAfterMs - other.from.notAfterMs || one.serial - other.serial);
}
