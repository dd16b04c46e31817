/**
 * The text of a state file: one line that says what it is and the checksum of the rest, then JSON. Pure.
 */
import { createHash } from 'node:crypto';
import { formatIpv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { RecordedPool } from '@vmdhcp/reconciler';

/** What survives of one pool. */
export interface StoredPool extends RecordedPool {
  /** MAC address to when its lease ends, milliseconds since 1970; Infinity: never. */
  readonly expiries: ReadonlyMap<string, number>;
}

export type StoredState = ReadonlyMap<string, StoredPool>;

export type StateReading = { readonly ok: true; readonly state: StoredState } | { readonly ok: false; readonly reason: string };

const FORMAT = 'vmdhcp-agent-state';
const VERSION = 1;

interface JsonLease {
  readonly mac: string;
  readonly address: string;
  readonly hostname?: string;
  /** ISO 8601, or `never`; absent: not bound. */
  readonly expires?: string;
}

interface JsonPool {
  readonly leases: readonly JsonLease[];
  readonly quarantined: readonly { readonly address: string; readonly until: string }[];
}

export function formatState(state: StoredState): string {
  const pools: Record<string, JsonPool> = {};
  for (const [name, { assignments, quarantines, expiries }] of state) {
    pools[name] = {
      leases: assignments.map(({ macAddress, address, hostname }) => {
        const expires = expiries.get(macAddress);
        return {
          mac: macAddress,
          address: formatIpv4Address(address),
          ...(hostname !== undefined && { hostname }),
          ...(expires !== undefined && { expires: formatTime(expires) }),
        };
      }),
      quarantined: quarantines.map(({ address, untilMs }) => ({
        address: formatIpv4Address(address),
        until: formatTime(untilMs),
      })),
    };
  }
  const body = `${JSON.stringify({ pools })}\n`;
  return `${FORMAT} ${VERSION} sha256:${checksum(body)}\n${body}`;
}

/** The state that `text` holds, or why it cannot be believed. Never throws. */
export function parseState(text: string): StateReading {
  const end = text.indexOf('\n');
  const [format, version, sum] = text.slice(0, Math.max(end, 0)).split(' ');
  if (format !== FORMAT) return { ok: false, reason: 'it is no state file' };
  if (version !== String(VERSION))
    return { ok: false, reason: `it has format version ${version?.slice(0, 16)}; this program reads ${VERSION}` };
  const body = text.slice(end + 1);
  if (sum !== `sha256:${checksum(body)}`)
    return { ok: false, reason: 'its checksum is wrong: it is torn or was changed by hand' };
  try {
    const { pools } = JSON.parse(body) as { pools: Record<string, JsonPool> };
    return { ok: true, state: new Map(Object.entries(pools).map(([name, pool]) => [name, toStoredPool(pool)])) };
  } catch (error) {
    return { ok: false, reason: `it does not hold what a state file holds (${error instanceof Error ? error.message : error})` };
  }
}

function toStoredPool({ leases, quarantined }: JsonPool): StoredPool {
  const expiries = new Map<string, number>();
  const assignments = leases.map(({ mac, address, hostname, expires }) => {
    const macAddress = required(parseMacAddress(mac), mac);
    if (expires !== undefined) expiries.set(macAddress, parseTime(expires));
    return { macAddress, address: required(parseIpv4Address(address), address), ...(hostname !== undefined && { hostname }) };
  });
  const quarantines = quarantined.map(({ address, until }) => ({
    address: required(parseIpv4Address(address), address),
    untilMs: parseTime(until),
  }));
  return { assignments, quarantines, expiries };
}

function required<Value>(value: Value | undefined, text: unknown): Value {
  if (value === undefined) throw new TypeError(`cannot read ${JSON.stringify(text)}`);
  return value;
}

function formatTime(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : 'never';
}

function parseTime(text: string): number {
  if (text === 'never') return Number.POSITIVE_INFINITY;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new TypeError(`cannot read the time ${JSON.stringify(text)}`);
  return ms;
}

function checksum(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
