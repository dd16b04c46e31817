/** Selects the requested records. */
import { cidrContains, type Ipv4Address, parseIpv4Cidr } from '@vmdhcp/dhcp-allocator/address';
import type { ClientSubject } from '@vmdhcp/explain';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { AssignmentRecord, PoolRecords } from '@vmdhcp/reconciler/audit';
import { type AuditRow, rowsAt, toRow } from '../output/audit-rows.js';
import { poolNetworkOf } from '../output/pool-rows.js';

/** The selection. */
export interface Question {
  /** Undefined for everything. */
  readonly subject: ClientSubject | { readonly kind: 'machine'; readonly machine: string } | undefined;
  readonly atMs: number | undefined;
  readonly sinceMs: number | undefined;
  readonly network: string | undefined;
}

/** By key of the pool. */
export interface Knowledge {
  readonly pools: ReadonlyMap<string, KubernetesObject>;
  readonly records: ReadonlyMap<string, PoolRecords>;
}

export function selectAuditRows(question: Question, { pools, records }: Knowledge): AuditRow[] {
  return [...records].flatMap(([key, ofPool]) => rowsOfPool(question, { key, ofPool, object: pools.get(key) }));
}

interface OnePool {
  readonly key: string;
  readonly ofPool: PoolRecords;
  /** Undefined if it no longer exists. */
  readonly object: KubernetesObject | undefined;
}

function rowsOfPool(question: Question, pool: OnePool): AuditRow[] {
  const { subject, atMs } = question;
  const { key, ofPool, object } = pool;
  if (atMs !== undefined && subject?.kind === 'address') {
    const { address } = subject;
    const isThere = ofPool.records.some((record) => record.address === address) || hasAddress(object, address);
    return isThere && isOnNetwork(question.network, pool) ? rowsAt({ pool: key, records: ofPool }, address, atMs) : [];
  }
  const asked = ofPool.records.filter((record) => isAsked(question, record));
  const own = asked.map((record) => toRow(key, record));
  if (atMs === undefined) return own;
  const addresses = [...new Set(asked.map((record) => record.address))];
  return addresses.flatMap((address) => ofSubject(rowsAt({ pool: key, records: ofPool }, address, atMs), own));
}

function isAsked({ subject, network, sinceMs }: Question, record: AssignmentRecord): boolean {
  if (network !== undefined && record.network !== network) return false;
  const isRecent = sinceMs === undefined || record.end === undefined || record.end.to.notAfterMs > sinceMs;
  return isRecent && isAbout(subject, record);
}

function hasAddress(pool: KubernetesObject | undefined, address: Ipv4Address): boolean {
  const cidr = parseIpv4Cidr(readText(pool?.spec, 'ipv4Config', 'cidr') ?? '');
  return cidr !== undefined && cidrContains(cidr, address);
}

/** Keeps the answers that concern this client, of all answers about addresses it had. */
function ofSubject(answers: readonly AuditRow[], own: readonly AuditRow[]): AuditRow[] {
  const isOwn = (row: AuditRow) =>
    own.some((one) => one.macAddress === row.macAddress && one.address === row.address && one.from === row.from);
  return answers.filter((row) => row.answer !== 'free' && isOwn(row));
}

function isAbout(subject: Question['subject'], record: AssignmentRecord): boolean {
  if (subject === undefined) return true;
  if (subject.kind === 'machine') return record.virtualMachine === subject.machine;
  return subject.kind === 'address' ? record.address === subject.address : record.macAddress === subject.macAddress;
}

function isOnNetwork(network: string | undefined, { ofPool, object }: OnePool): boolean {
  if (network === undefined) return true;
  return object === undefined ? ofPool.records.some((record) => record.network === network) : poolNetworkOf(object) === network;
}

/** Rows of the same second stay in the order of their records. */
export function byTime(one: AuditRow, other: AuditRow): number {
  const [from, otherFrom] = [one.from ?? '', other.from ?? ''];
  return from === otherFrom ? 0 : from < otherFrom ? -1 : 1;
}
