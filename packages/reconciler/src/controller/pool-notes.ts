/** What is to be said about a pool that is served all the same: on its condition CacheReady, and as Events. */
import { formatIpv4Address, formatIpv4Range, type MacAddress, rangeContains } from '@vmdhcp/dhcp-allocator';
import { describeNames } from '../object/describe-problems.js';
import type { PoolView } from './cluster-view.js';
import type { SharedSegment } from './shared-segments.js';

export interface PoolNote {
  /** CamelCase, as on conditions and Events. */
  readonly reason: string;
  readonly message: string;
}

/** Names no pool of another namespace, and no number of pools: strangers would have it written again and again. */
export function segmentNote({ network }: PoolView, shared: SharedSegment | undefined): PoolNote[] {
  if (shared === undefined) return [];
  const { segment, sibling } = shared;
  const begin = `network ${network} is the same segment (${segment}) as the network of`;
  const danger = 'and the CIDRs overlap, so two virtual machines could get one address';
  const message =
    sibling === undefined
      ? `${begin} an IPPool of another namespace, ${danger}; delete this IPPool and create it again with a CIDR that does not overlap, or ask an administrator of the cluster for the other one: its NetworkAttachmentDefinition leads to this segment`
      : `${begin} IPPool ${sibling}, ${danger}; delete all but one of these IPPools, or make them again with CIDRs that do not overlap`;
  return [{ reason: 'SegmentShared', message }];
}

/** Addresses that stay with their clients though the range has them no more, as a CRD of another version let it become smaller. */
export function outsideNote(
  { reading, recorded, network }: PoolView,
  isClaimed: (macAddress: MacAddress) => boolean,
): PoolNote[] {
  if (!reading.ok) return [];
  const { range, reservations } = reading.pool;
  const outside = recorded.assignments.filter(
    ({ macAddress, address }) =>
      !rangeContains(range, address) && reservations.get(macAddress)?.address !== address && isClaimed(macAddress),
  );
  if (outside.length === 0) return [];
  const clients = outside.map(({ address, macAddress }) => `${formatIpv4Address(address)} (${macAddress})`);
  const names = describeNames(clients, { most: MOST_NAMES });
  const message = `outside spec.ipv4Config.pool (${formatIpv4Range(range)}) on network ${network}, and kept as long as their virtual machines claim them: ${names}; lower start or raise end, or reserve them for these MAC addresses`;
  return [{ reason: 'AddressOutsideRange', message }];
}

const MOST_NAMES = 3;

/** Of several the first gives the reason, and each its message. */
export function joinNotes(notes: readonly PoolNote[]): Partial<PoolNote> {
  const [first] = notes;
  return first === undefined ? {} : { reason: first.reason, message: notes.map(({ message }) => message).join('; ') };
}
