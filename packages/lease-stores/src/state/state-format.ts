/**
 * Formats and parses a state file: a line that says what it is, a line of JSON for each item, and a last line with the checksum
 * of all lines before it. A torn file does not have that last line. Pure.
 */
import { createHash } from 'node:crypto';
import { type Assignment, formatIpv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { Quarantine, RecordedPool } from '@vmdhcp/reconciler/plan-assignments';
import { formatLeaseTime, parseLeaseTime } from '../lease/lease-time.js';

/** When a client's lease ends, milliseconds since 1970; Infinity: never; undefined if it has none at the moment. */
export type ExpiryOf = (poolName: string, macAddress: string) => number | undefined;

/** The VirtualMachineNetworkConfig that the address is for, by pool, then by MAC address. */
export type Owners = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The state to store. */
export interface StateToSave {
  readonly pools: ReadonlyMap<string, RecordedPool>;
  readonly expiryOf: ExpiryOf;
  readonly owners: Owners;
}

/** The stored state. */
export interface StoredState {
  readonly pools: ReadonlyMap<string, RecordedPool>;
  /** When leases end, by pool, then by MAC address. @see ExpiryOf */
  readonly expiries: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Empty in files of earlier versions. */
  readonly owners: Owners;
}

export type StateReading =
  | { readonly ok: true; readonly state: StoredState }
  /** `isNewer`: a later version of the program wrote it. */
  | { readonly ok: false; readonly reason: string; readonly isNewer: boolean };

/** The state of an agent that has stored nothing. */
export const EMPTY_STATE: StoredState = { pools: new Map(), expiries: new Map(), owners: new Map() };

const FORMAT = 'vmdhcp-agent-state';
const VERSION = 1;
const CHECKSUM = 'sha256:';
const LINES_PER_CHUNK = 500;

/** The file's text in pieces, so that ten thousand leases are not in memory at once. */
export function* formatState(state: StateToSave): Generator<string> {
  const hash = createHash('sha256');
  let chunk = `${FORMAT} ${VERSION}\n`;
  let lines = 0;
  for (const record of records(state)) {
    chunk += `${JSON.stringify(record)}\n`;
    if (++lines % LINES_PER_CHUNK !== 0) continue;
    hash.update(chunk);
    yield chunk;
    chunk = '';
  }
  hash.update(chunk);
  yield `${chunk}${CHECKSUM}${hash.digest('hex')}\n`;
}

/** Parses the state in `text`, or says why it is invalid. Never throws. */
export function parseState(text: string): StateReading {
  const [format, version] = text.slice(0, Math.max(text.indexOf('\n'), 0)).split(' ');
  if (format !== FORMAT) return corrupt('it is not a state file');
  if (version !== String(VERSION)) {
    const reason = `it has format version ${version?.slice(0, 16)}; this program reads ${VERSION}`;
    return { ok: false, reason, isNewer: Number(version) > VERSION };
  }
  const bodyEnd = text.lastIndexOf(CHECKSUM);
  const body = text.slice(0, Math.max(bodyEnd, 0));
  if (bodyEnd < 0 || text.slice(bodyEnd) !== `${CHECKSUM}${createHash('sha256').update(body).digest('hex')}\n`) {
    return corrupt('its checksum is wrong or missing: it is torn or was changed by hand');
  }
  try {
    return { ok: true, state: readRecords(body.split('\n').slice(1, -1)) };
  } catch (error) {
    return corrupt(`it does not have the content of a state file (${error instanceof Error ? error.message : error})`);
  }
}

function corrupt(reason: string): StateReading {
  return { ok: false, reason, isNewer: false };
}

type JsonRecord =
  | { readonly pool: string }
  | {
      readonly pool: string;
      readonly mac: string;
      readonly address: string;
      readonly hostname?: string;
      readonly owner?: string;
      /** ISO 8601, or `never`; absent if it is not bound. */
      readonly expires?: string;
    }
  | { readonly pool: string; readonly quarantined: string; readonly until: string };

function* records({ pools, expiryOf, owners }: StateToSave): Generator<JsonRecord> {
  for (const [pool, { assignments, quarantines }] of pools) {
    yield { pool };
    for (const { macAddress, address, hostname } of assignments) {
      const expires = expiryOf(pool, macAddress);
      const owner = owners.get(pool)?.get(macAddress);
      yield {
        pool,
        mac: macAddress,
        address: formatIpv4Address(address),
        ...(hostname !== undefined && { hostname }),
        ...(owner !== undefined && { owner }),
        ...(expires !== undefined && { expires: formatLeaseTime(expires) }),
      };
    }
    for (const { address, untilMs } of quarantines)
      yield { pool, quarantined: formatIpv4Address(address), until: formatLeaseTime(untilMs) };
  }
}

function readRecords(lines: readonly string[]): StoredState {
  const pools = new Map<string, { assignments: Assignment[]; quarantines: Quarantine[] }>();
  const expiries = new Map<string, Map<string, number>>();
  const owners = new Map<string, Map<string, string>>();
  for (const line of lines) {
    const record = JSON.parse(line) as JsonRecord;
    const pool = pools.get(record.pool) ?? { assignments: [], quarantines: [] };
    pools.set(record.pool, pool);
    if ('mac' in record) {
      const { mac, address, hostname, owner, expires } = record;
      const macAddress = required(parseMacAddress(mac), mac);
      pool.assignments.push({
        macAddress,
        address: required(parseIpv4Address(address), address),
        ...(hostname !== undefined && { hostname }),
      });
      if (expires !== undefined)
        expiries.set(record.pool, (expiries.get(record.pool) ?? new Map()).set(macAddress, parseLeaseTime(expires)));
      if (owner !== undefined) owners.set(record.pool, (owners.get(record.pool) ?? new Map()).set(macAddress, owner));
    } else if ('quarantined' in record) {
      const { quarantined, until } = record;
      pool.quarantines.push({ address: required(parseIpv4Address(quarantined), quarantined), untilMs: parseLeaseTime(until) });
    }
  }
  return { pools, expiries, owners };
}

function required<Value>(value: Value | undefined, text: unknown): Value {
  if (value === undefined) throw new TypeError(`cannot read ${JSON.stringify(text)}`);
  return value;
}
