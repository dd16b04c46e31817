/**
 * The text of a record: one line of JSON, without its end. Reading never throws, whatever a crash or an editor did to a line; a line that was cut
 * anywhere is refused.
 */
import { formatIpv4Address, type Ipv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { type MacAddress, parseMacAddress } from '../address/mac-address.js';
import { isHostName } from '../pool/host-name.js';
import type { BindingRecord } from './binding.js';

/** Why a line is not a record. */
export type BindingRecordFault =
  | 'not-json'
  | 'not-a-record'
  | 'pool-invalid'
  | 'address-invalid'
  | 'mac-address-invalid'
  | 'hostname-invalid'
  | 'time-invalid'
  | 'state-invalid';

/** A record that was read from a line, or why the line is none. */
export type BindingRecordReading =
  | { readonly ok: true; readonly record: BindingRecord }
  | { readonly ok: false; readonly reason: BindingRecordFault };

/** JSON has no number for the end of a lease that never ends. */
const NEVER = 'never';

/** One line, without its end: `{"pool":"net","address":"10.0.0.10","client":"01020000000001","mac":"02:00:00:00:00:01",...}`. */
export function formatBindingRecord(record: BindingRecord): string {
  const place = { pool: record.poolName, address: formatIpv4Address(record.address) };
  if (record.kind === 'quarantine')
    return JSON.stringify({ ...place, quarantined: formatTime(record.untilMs), since: record.beganAtMs });
  return JSON.stringify({
    ...place,
    // Agents of earlier versions read it; to them it is a client without an identifier.
    client: `01${record.macAddress.replaceAll(':', '')}`,
    mac: record.macAddress,
    ...(record.hostname !== undefined && { hostname: record.hostname }),
    bound: record.boundAtMs,
    granted: record.grantedAtMs,
    ends: formatTime(record.endsAtMs),
    ...(record.isReleased && { released: true }),
  });
}

/** The record in a line, or why the line is not a record. Never throws. Unknown fields are ignored. */
export function parseBindingRecord(line: string): BindingRecordReading {
  const fields = parseObject(line);
  if (typeof fields === 'string') return { ok: false, reason: fields };
  const { pool: poolName } = fields;
  const address = typeof fields['address'] === 'string' ? parseIpv4Address(fields['address']) : undefined;
  if (typeof poolName !== 'string') return { ok: false, reason: 'pool-invalid' };
  if (address === undefined) return { ok: false, reason: 'address-invalid' };
  return 'quarantined' in fields ? readQuarantine(fields, { poolName, address }) : readBinding(fields, { poolName, address });
}

type Fields = Readonly<Record<string, unknown>>;

interface Place {
  readonly poolName: string;
  readonly address: Ipv4Address;
}

function parseObject(line: string): Fields | 'not-json' | 'not-a-record' {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not-a-record';
    return value as Fields;
  } catch {
    return 'not-json';
  }
}

function readQuarantine({ quarantined, since }: Fields, place: Place): BindingRecordReading {
  const [untilMs, beganAtMs] = [quarantined, since].map(readTime);
  if (untilMs === undefined || (since !== undefined && beganAtMs === undefined)) return { ok: false, reason: 'time-invalid' };
  return { ok: true, record: { kind: 'quarantine', ...place, untilMs, ...(beganAtMs !== undefined && { beganAtMs }) } };
}

function readBinding(fields: Fields, place: Place): BindingRecordReading {
  const client = readClient(fields);
  if (typeof client === 'string') return { ok: false, reason: client };
  const [boundAtMs, grantedAtMs, endsAtMs] = [fields['bound'], fields['granted'], fields['ends']].map(readTime);
  if (boundAtMs === undefined || grantedAtMs === undefined || endsAtMs === undefined)
    return { ok: false, reason: 'time-invalid' };
  const { released = false } = fields;
  if (typeof released !== 'boolean') return { ok: false, reason: 'state-invalid' };
  return {
    ok: true,
    record: { kind: 'binding', ...place, ...client, boundAtMs, grantedAtMs, endsAtMs, isReleased: released },
  };
}

interface Client {
  readonly macAddress: MacAddress;
  readonly hostname?: string;
}

function readClient({ mac, hostname }: Fields): Client | BindingRecordFault {
  const macAddress = typeof mac === 'string' ? parseMacAddress(mac) : undefined;
  if (macAddress === undefined) return 'mac-address-invalid';
  if (hostname === undefined) return { macAddress };
  if (typeof hostname !== 'string' || !isHostName(hostname)) return 'hostname-invalid';
  return { macAddress, hostname };
}

function formatTime(timeMs: number): number | string {
  return timeMs === Number.POSITIVE_INFINITY ? NEVER : timeMs;
}

function readTime(value: unknown): number | undefined {
  if (value === NEVER) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
