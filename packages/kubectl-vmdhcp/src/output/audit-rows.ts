/** The output of `kubectl vmdhcp audit`. */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator/address';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import type { Column } from '@vmdhcp/explain/observe';
import {
  type AssignmentRecord,
  ownerAt,
  type PoolRecords,
  type RecordText,
  toRecordText,
  type UnknownReason,
} from '@vmdhcp/reconciler/audit';

export interface AuditRow extends Partial<Omit<RecordText, 'serial'>> {
  /** `namespace/name` of the IPPool. */
  readonly pool: string;
  readonly address: string;
  /** With a requested time: what is known about it. */
  readonly answer?: 'assigned' | 'free' | 'not-known';
  readonly reason?: UnknownReason;
}

export function toRow(pool: string, record: AssignmentRecord): AuditRow {
  const { serial: _ofPool, ...fields } = toRecordText(record);
  return { pool, ...fields };
}

export interface RecordsOfPool {
  /** `namespace/name` of the IPPool. */
  readonly pool: string;
  readonly records: PoolRecords;
}

/** Who had the address, or who may have had it. */
export function rowsAt({ pool, records }: RecordsOfPool, address: Ipv4Address, atMs: number): AuditRow[] {
  const answer = ownerAt(records, address, atMs);
  if (answer.kind === 'assigned') return [{ answer: 'assigned', ...toRow(pool, answer.record) }];
  if (answer.kind === 'free') return [{ answer: 'free', pool, address: formatIpv4Address(address) }];
  const { reason, candidates } = answer;
  if (candidates.length === 0) return [{ answer: 'not-known', reason, pool, address: formatIpv4Address(address) }];
  return candidates.map((record) => ({ answer: 'not-known', reason, ...toRow(pool, record) }));
}

const ANSWER: Column<AuditRow>[] = [
  { header: 'ANSWER', value: ({ answer = '' }) => answer },
  { header: 'WHY', value: ({ reason = '' }) => reason },
];

const RECORD: Column<AuditRow>[] = [
  { header: 'ADDRESS', value: ({ address }) => address },
  { header: 'VM', value: ({ virtualMachine = '' }) => virtualMachine },
  { header: 'INTERFACE', value: (row) => row.interface ?? '' },
  { header: 'MAC', value: ({ macAddress = '' }) => macAddress },
  { header: 'FROM', value: fromText },
  { header: 'TO', value: ({ to = '', toNotBefore }) => (toNotBefore === undefined ? to : `${toNotBefore}..${to}`) },
  { header: 'BEGAN', value: ({ began = '' }) => began },
  { header: 'ENDED', value: ({ ended = '' }) => ended },
  { header: 'NETWORK', value: ({ network = '' }) => network, isWide: true },
  { header: 'POOL', value: ({ pool }) => pool, isWide: true },
  { header: 'UID', value: ({ uid = '' }) => uid, isWide: true },
];

/** @param hasTime - true if a time was requested. */
export function auditColumns(hasTime: boolean): Column<AuditRow>[] {
  return hasTime ? [...ANSWER, ...RECORD] : RECORD;
}

function fromText({ from = '', fromNotBefore, fromUnknown }: AuditRow): string {
  if (fromUnknown === true) return `..${from}`;
  return fromNotBefore === undefined ? from : `${fromNotBefore}..${from}`;
}
