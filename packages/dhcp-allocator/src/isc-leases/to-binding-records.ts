/**
 * Turns leases of ISC dhcpd into the bindings of an open pool. An address that a client may still use is never free afterwards: a lease that cannot
 * become a binding becomes a quarantine until it ends.
 */
import type { Ipv4Address } from '../address/ipv4-address.js';
import type { BindingRecord } from '../binding/binding.js';
import { isHostName } from '../pool/host-name.js';
import type { IscLease, IscLeaseEntry, UnreadableIscLease } from './isc-lease.js';
import type { IscLeaseReading } from './parse-isc-leases.js';

/** The outcome of a lease. The first six have a record. */
export type IscLeaseOutcome =
  /** Active: the client has the address until the lease ends. */
  | 'leased'
  /** Ended, with a client: it gets the address again if it returns in time. */
  | 'previous-address'
  /** Abandoned: another machine used the address. */
  | 'quarantined-abandoned'
  /** Active; the client has no Ethernet address. */
  | 'quarantined-no-ethernet-address'
  /** Active; the host has a later lease of another address, because its firmware and its operating system had one each. */
  | 'quarantined-second-address'
  /** The entry cannot be read: a client may have the address. */
  | 'quarantined-unreadable'
  /** Free or ended, and no client is known; or the abandoned time is over. */
  | 'nothing-to-keep'
  /** Ended; the client has a later lease of another address. */
  | 'client-has-later-lease'
  /** No pool has the address. */
  | 'no-pool';

/** What became of one lease of ISC dhcpd, and its record if it is kept. */
export interface ImportedIscLease {
  /** An unreadable entry: its address and its line. */
  readonly lease: Pick<IscLeaseEntry, 'address' | 'line'> & Partial<IscLeaseEntry>;
  readonly outcome: IscLeaseOutcome;
  readonly record?: BindingRecord;
}

/** Which pool an address belongs to, and what time it is. */
export interface IscImport {
  /** The pool that has the address; undefined: none. */
  readonly poolNameOf: (address: Ipv4Address) => string | undefined;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** dhcpd leaves an abandoned address alone for a day. Source: dhcpd.conf(5), `abandon-lease-time`. */
const ABANDONED_MS = 86_400_000;

type BindingOfClient = Extract<BindingRecord, { kind: 'binding' }>;

/** The content of a file: the result of `parseIscLeases`. */
export type ReadIscLeases = Pick<IscLeaseReading, 'leases' | 'unreadable'>;

/**
 * The outcome of each lease, and of each address whose last entry cannot be read. The records, in this order, restore the bindings: the lease that
 * ended first comes first.
 */
export function toBindingRecords({ leases, unreadable }: ReadIscLeases, settings: IscImport): ImportedIscLease[] {
  const latest = new Map<string, IscLeaseEntry>();
  for (const lease of leases) {
    const key = clientKeyOf(lease, settings);
    const other = key === undefined ? undefined : latest.get(key);
    if (key !== undefined && (other === undefined || isLater(lease, other, settings.nowMs))) latest.set(key, lease);
  }
  const outcomes = leases.map((lease) => {
    const key = clientKeyOf(lease, settings);
    return importLease(lease, { ...settings, isLatest: key === undefined || latest.get(key) === lease });
  });
  const longestMs = leases.reduce((longest, lease) => Math.max(longest, endOf(lease)), settings.nowMs + ABANDONED_MS);
  outcomes.push(...unreadable.map((lease) => importUnreadable(lease, { ...settings, longestMs })));
  return outcomes.toSorted((one, other) => orderOf(one) - orderOf(other));
}

/** The end of the lease, or the latest end that any lease of the file may have: dhcpd grants every client the same time. */
function importUnreadable(
  { address, line, endsAtMs }: UnreadableIscLease,
  { poolNameOf, nowMs, longestMs }: IscImport & { readonly longestMs: number },
): ImportedIscLease {
  const [lease, poolName] = [{ address, line }, poolNameOf(address)];
  if (poolName === undefined) return { lease, outcome: 'no-pool' };
  const untilMs = endsAtMs ?? longestMs;
  return untilMs > nowMs
    ? { lease, outcome: 'quarantined-unreadable', record: { kind: 'quarantine', poolName, address, untilMs } }
    : { lease, outcome: 'nothing-to-keep' };
}

function importLease(lease: IscLeaseEntry, settings: IscImport & { readonly isLatest: boolean }): ImportedIscLease {
  const { nowMs, isLatest } = settings;
  const poolName = settings.poolNameOf(lease.address);
  if (poolName === undefined) return { lease, outcome: 'no-pool' };
  const quarantine = (outcome: IscLeaseOutcome, untilMs: number): ImportedIscLease =>
    untilMs > nowMs
      ? { lease, outcome, record: { kind: 'quarantine', poolName, address: lease.address, untilMs } }
      : { lease, outcome: 'nothing-to-keep' };
  if (lease.state === 'abandoned') {
    const longestMs = nowMs + ABANDONED_MS;
    return quarantine('quarantined-abandoned', Math.min(lease.endsAtMs ?? longestMs, longestMs));
  }
  const isActive = isActiveAt(lease, nowMs);
  const binding = bindingOf(lease, { poolName, nowMs });
  if (binding === undefined) return quarantine('quarantined-no-ethernet-address', isActive ? endOf(lease) : nowMs);
  if (isLatest) return { lease, outcome: isActive ? 'leased' : 'previous-address', record: binding };
  return isActive ? quarantine('quarantined-second-address', endOf(lease)) : { lease, outcome: 'client-has-later-lease' };
}

function bindingOf(lease: IscLeaseEntry, { poolName, nowMs }: { poolName: string; nowMs: number }): BindingOfClient | undefined {
  const { address, macAddress, hostname, startsAtMs } = lease;
  if (macAddress === undefined) return undefined;
  const boundAtMs = finiteOr(startsAtMs, finiteOr(lease.clientLastSeenAtMs, 0));
  return {
    ...{ kind: 'binding', poolName, address, macAddress },
    ...(hostname !== undefined && isHostName(hostname) && { hostname }),
    boundAtMs,
    grantedAtMs: finiteOr(lease.clientLastSeenAtMs, boundAtMs),
    endsAtMs: isActiveAt(lease, nowMs) ? endOf(lease) : Math.min(lease.endsAtMs ?? boundAtMs, nowMs),
    isReleased: lease.state === 'released',
  };
}

/** A client has one address of a pool. */
function clientKeyOf(lease: IscLeaseEntry, { poolNameOf }: IscImport): string | undefined {
  const [{ macAddress, state }, poolName] = [lease, poolNameOf(lease.address)];
  return macAddress === undefined || poolName === undefined || state === 'abandoned' ? undefined : `${macAddress} ${poolName}`;
}

/** An active lease is later than one that ended; else the client's last message counts, then the place in the file. */
function isLater(lease: IscLeaseEntry, other: IscLeaseEntry, nowMs: number): boolean {
  const [isActive, isOtherActive] = [isActiveAt(lease, nowMs), isActiveAt(other, nowMs)];
  return isActive === isOtherActive ? seenAt(lease) >= seenAt(other) : isActive;
}

function isActiveAt(lease: IscLease, nowMs: number): boolean {
  return lease.state === 'active' && endOf(lease) > nowMs;
}

/** A lease without an end has ended. */
function endOf({ endsAtMs = 0 }: IscLease): number {
  return endsAtMs;
}

function seenAt({ clientLastSeenAtMs, startsAtMs }: IscLease): number {
  return finiteOr(clientLastSeenAtMs, finiteOr(startsAtMs, 0));
}

function finiteOr(timeMs: number | undefined, otherwise: number): number {
  return timeMs !== undefined && Number.isFinite(timeMs) ? timeMs : otherwise;
}

/** Leases without a record come first. */
function orderOf({ record }: ImportedIscLease): number {
  if (record === undefined) return -1;
  const endsAtMs = record.kind === 'binding' ? record.endsAtMs : record.untilMs;
  return Number.isFinite(endsAtMs) ? Math.max(0, endsAtMs) : Number.MAX_VALUE;
}
