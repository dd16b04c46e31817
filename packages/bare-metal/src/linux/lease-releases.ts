/**
 * Finds the leases and quarantines that a person ends by the annotation of a HostStatus, and that have not ended yet. Each
 * annotation counts once, for an hour.
 */
import { type BindingTable, type Ipv4Address, isBindingValid, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { LeaseRelease } from '../binding/bound-addresses.js';

/** So that a lease does not end months later, when a new leader sees the annotation and the host is switched off by then. */
const COUNTS_MS = 3_600_000;
/** How far the clock of the annotation's writer may be ahead of that of this agent. */
const MOST_AHEAD_MS = 60_000;

export interface PendingRelease extends LeaseRelease {
  readonly address: Ipv4Address;
}

export interface TakenReleases {
  readonly due: readonly PendingRelease[];
  /** Ignored annotations: their time is too far ahead. They would end the lease of each later client, at each new leader. */
  readonly ahead: readonly LeaseRelease[];
}

type KnownAddresses = Pick<BindingTable, 'at' | 'quarantines' | 'quarantinedSince'>;

export class LeaseReleases {
  #seen: ReadonlySet<string> = new Set();

  /** Returns releases that were not returned before, and whose lease has not been granted again since. */
  take(releases: readonly LeaseRelease[], table: KnownAddresses, nowMs: number): TakenReleases {
    const before = this.#seen;
    this.#seen = new Set(releases.map(idOf));
    const pending = releases.flatMap((release) => {
      const address = parseIpv4Address(release.ipAddress);
      if (before.has(idOf(release)) || address === undefined || nowMs - release.beforeMs >= COUNTS_MS) return [];
      const pending = { ...release, address };
      return isLeasedSince(pending, table, nowMs) || isQuarantinedSince(pending, table, nowMs) ? [pending] : [];
    });
    return {
      due: pending.filter(({ beforeMs }) => !isAhead(beforeMs, nowMs)),
      ahead: pending.filter(({ beforeMs }) => isAhead(beforeMs, nowMs)),
    };
  }

  /** Call it when the leases were replaced, or another replica keeps them. */
  forget(): void {
    this.#seen = new Set();
  }
}

function isLeasedSince({ address, beforeMs }: PendingRelease, table: KnownAddresses, nowMs: number): boolean {
  const binding = table.at(address);
  return binding !== undefined && binding.grantedAtMs <= beforeMs && isBindingValid(binding, nowMs);
}

function isQuarantinedSince({ address, beforeMs }: PendingRelease, table: KnownAddresses, nowMs: number): boolean {
  return (table.quarantines().get(address) ?? 0) > nowMs && (table.quarantinedSince().get(address) ?? 0) <= beforeMs;
}

function isAhead(beforeMs: number, nowMs: number): boolean {
  return beforeMs - nowMs > MOST_AHEAD_MS;
}

function idOf({ ipAddress, beforeMs }: LeaseRelease): string {
  return `${ipAddress} ${beforeMs}`;
}
