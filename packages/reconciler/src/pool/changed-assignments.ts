/** Finds the differences between two versions of `status.ipv4.allocated` by comparison, because nearly all entries of a large pool are the same. */
import {
  type Assignment,
  type AssignmentChanges,
  type MacAddress,
  parseIpv4Address,
  parseMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api/agent';

/** `status.ipv4.allocated`. */
export type Allocated = Readonly<Record<string, unknown>>;

/** A parsed version. */
export interface ReadVersion {
  readonly allocated: Allocated;
  /** The number of entries, which takes as long to count as to compare. */
  readonly size: number;
}

/**
 * The changes of clients from one version to the next. Undefined if a comparison is not enough, because a changed entry is invalid or a client has
 * several: `readRecordedAddresses` reads anything.
 *
 * @param before - every entry is valid, and no client has two.
 * @param has - true for a client with an address in `before`.
 */
export function changedAssignments(
  before: ReadVersion,
  after: Allocated,
  has: (macAddress: MacAddress) => boolean,
): (AssignmentChanges & { readonly size: number }) | undefined {
  const { differing, size } = compare(before, after);
  const lost = new Set<MacAddress>();
  const gained = new Map<MacAddress, Assignment>();
  for (const key of differing) {
    const formerClient = clientOf(before.allocated[key]);
    if (formerClient !== undefined) lost.add(formerClient);
    if (!Object.hasOwn(after, key) || isMark(after[key])) continue;
    const [address, macAddress] = [parseIpv4Address(key), clientOf(after[key])];
    if (address === undefined || macAddress === undefined || gained.has(macAddress)) return undefined;
    gained.set(macAddress, { macAddress, address });
  }
  // The old address stays beside the new one.
  if ([...gained.keys()].some((macAddress) => has(macAddress) && !lost.has(macAddress))) return undefined;
  const removed = [...lost].filter((macAddress) => !gained.has(macAddress));
  return { removed, assigned: [...gained.values()], size };
}

/** Keys whose values differ, and how many keys there are. */
function compare(before: ReadVersion, after: Allocated): { readonly differing: readonly string[]; readonly size: number } {
  const differing: string[] = [];
  const keys = Object.keys(after);
  for (const key of keys) if (before.allocated[key] !== after[key]) differing.push(key);
  const added = differing.filter((key) => !Object.hasOwn(before.allocated, key)).length;
  const hasLost = keys.length - added < before.size;
  const lost = hasLost ? Object.keys(before.allocated).filter((key) => !Object.hasOwn(after, key)) : [];
  return { differing: [...differing, ...lost], size: keys.length };
}

/** True for the value of an address that no client gets. */
export function isMark(value: unknown): boolean {
  return value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED;
}

function clientOf(value: unknown): MacAddress | undefined {
  return typeof value === 'string' ? parseMacAddress(value) : undefined;
}
