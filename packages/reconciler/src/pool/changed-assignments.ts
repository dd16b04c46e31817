/** What differs between two versions of `status.ipv4.allocated`, at the price of a comparison: nearly all entries of a large pool are the same. */
import {
  type Assignment,
  type AssignmentChanges,
  type MacAddress,
  parseIpv4Address,
  parseMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api';

type Allocated = Readonly<Record<string, unknown>>;

/**
 * From the clients of one version to those of the next. Undefined where that takes more than a comparison, as a changed entry makes no sense or
 * a client has several: `readRecordedAddresses` reads anything.
 *
 * @param before - every entry of it makes sense, and no client has two.
 * @param has - true of a client that has an address by `before`.
 */
export function changedAssignments(
  before: Allocated,
  after: Allocated,
  has: (macAddress: MacAddress) => boolean,
): AssignmentChanges | undefined {
  const lost = new Set<MacAddress>();
  const gained = new Map<MacAddress, Assignment>();
  for (const key of differingKeys(before, after)) {
    const formerClient = clientOf(before[key]);
    if (formerClient !== undefined) lost.add(formerClient);
    if (!Object.hasOwn(after, key) || isMark(after[key])) continue;
    const [address, macAddress] = [parseIpv4Address(key), clientOf(after[key])];
    if (address === undefined || macAddress === undefined || gained.has(macAddress)) return undefined;
    gained.set(macAddress, { macAddress, address });
  }
  // What it had before stays beside what it has now.
  if ([...gained.keys()].some((macAddress) => has(macAddress) && !lost.has(macAddress))) return undefined;
  return { removed: [...lost].filter((macAddress) => !gained.has(macAddress)), assigned: [...gained.values()] };
}

function differingKeys(before: Allocated, after: Allocated): string[] {
  const keys = Object.keys(after);
  const differing = keys.filter((key) => before[key] !== after[key]);
  const former = Object.keys(before);
  const added = differing.filter((key) => !Object.hasOwn(before, key)).length;
  if (former.length + added === keys.length) return differing;
  return [...differing, ...former.filter((key) => !Object.hasOwn(after, key))];
}

function isMark(value: unknown): boolean {
  return value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED;
}

function clientOf(value: unknown): MacAddress | undefined {
  return typeof value === 'string' ? parseMacAddress(value) : undefined;
}
