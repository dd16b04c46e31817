/** What is to be said about a pool that is served all the same: on its condition CacheReady, and as Events. */
import { describeNames } from '../object/describe-problems.js';
import type { PoolView } from './cluster-view.js';
import type { SharedSegment } from './shared-segments.js';

export interface PoolNote {
  /** CamelCase, as on conditions and Events. */
  readonly reason: string;
  readonly message: string;
}

export function segmentNote({ network }: PoolView, shared: SharedSegment | undefined): PoolNote[] {
  if (shared === undefined) return [];
  const { segment, poolKeys } = shared;
  const others = describeNames(poolKeys, { most: 3 });
  const message = `network ${network} is the same segment (${segment}) as the network of IPPool ${others}, and the CIDRs overlap, so two virtual machines could get one address; delete all but one of these IPPools, or make them again with CIDRs that do not overlap`;
  return [{ reason: 'SegmentShared', message }];
}

/** Of several the first gives the reason, and each its message. */
export function joinNotes(notes: readonly PoolNote[]): Partial<PoolNote> {
  const [first] = notes;
  return first === undefined ? {} : { reason: first.reason, message: notes.map(({ message }) => message).join('; ') };
}
