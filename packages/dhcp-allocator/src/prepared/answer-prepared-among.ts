import type { LeaseIndex } from '../lease/lease-index.js';
import { Offset } from '../wire/layout.js';
import type { PreparedAnswers, PreparedReply } from './prepared-answers.js';

/** A pool with its prepared answers, and its leases as they are now. */
export interface PreparedPool {
  readonly prepared: PreparedAnswers;
  readonly leases: LeaseIndex;
}

/**
 * The OFFER or ACK of the one pool, among those that share an interface, in which the client has a lease; else as `PreparedAnswers.answer` returns
 * and writes. A client with leases in several of them is left to `answerPacket`.
 */
export function answerPreparedAmong(
  packet: Uint8Array,
  pools: readonly PreparedPool[],
  into: Uint8Array,
): PreparedReply | undefined {
  const found = pools.length === 1 ? pools[0] : onlyPoolOf(packet, pools);
  return found?.prepared.answer(packet, found.leases, into);
}

function onlyPoolOf(packet: Uint8Array, pools: readonly PreparedPool[]): PreparedPool | undefined {
  let found: PreparedPool | undefined;
  for (const pool of pools) {
    if (pool.leases.find(packet, Offset.chaddr) === undefined) continue;
    if (found !== undefined) return undefined;
    found = pool;
  }
  return found;
}
