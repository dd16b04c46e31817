/** Hosts that use addresses which are not assigned to them, as found and reported by agents. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { ReportedUse } from '@vmdhcp/ippool-api';
import type { Quarantine } from './quarantines.js';

export interface ObservedUse {
  readonly address: Ipv4Address;
  /** The host that answers for the address. */
  readonly usedBy: MacAddress;
  /** The client that the address is assigned to; absent for none. */
  readonly assignedTo?: MacAddress;
}

/** The use in the agents' report. */
export function toReportedUse({ address, usedBy, assignedTo }: ObservedUse): ReportedUse {
  return { address: formatIpv4Address(address), usedBy, ...(assignedTo !== undefined && { assignedTo }) };
}

/** The uses of a report; one whose addresses cannot be read is left out. Never throws. */
export function readReportedUses(reported: readonly ReportedUse[]): ObservedUse[] {
  return reported.flatMap((use) => {
    const address = parseIpv4Address(use.address);
    const usedBy = parseMacAddress(use.usedBy);
    const assignedTo = parseMacAddress(use.assignedTo ?? '');
    if (address === undefined || usedBy === undefined) return [];
    return [{ address, usedBy, ...(assignedTo !== undefined && { assignedTo }) }];
  });
}

/**
 * A hostile guest can make other hosts appear, so that observed uses keep at most this part of a pool from its clients, and nothing of a pool of fewer
 * than eight addresses.
 */
const LARGEST_PART = 1 / 8;

export interface ObservedSettings {
  readonly uses: readonly ObservedUse[];
  /** True if a client has the address. */
  readonly isAssigned: (address: Ipv4Address) => boolean;
  /** The number of addresses in the pool's range. */
  readonly poolSize: number;
  /** Milliseconds on the clock of the quarantines. */
  readonly untilMs: number;
}

/**
 * The quarantines, and others for addresses that no client has and some host uses. They never take an address from its client: only a probe before its
 * first use, or the client itself, does that.
 */
export function withObservedUses(quarantines: readonly Quarantine[], settings: ObservedSettings): readonly Quarantine[] {
  const { uses, isAssigned, poolSize, untilMs } = settings;
  // The agents of two groups may report the same use during a handover.
  const userOf = new Map(uses.map(({ address, usedBy }) => [address, usedBy]));
  const before = quarantines.map((one) => {
    const usedBy = one.usedBy ?? userOf.get(one.address);
    return usedBy === undefined ? one : { ...one, usedBy };
  });
  const known = new Set(quarantines.map(({ address }) => address));
  const room = Math.floor(poolSize * LARGEST_PART) - known.size;
  const added = [...userOf].filter(([address]) => !known.has(address) && !isAssigned(address)).slice(0, Math.max(0, room));
  return [...before, ...added.map(([address, usedBy]) => ({ address, usedBy, untilMs }))];
}
