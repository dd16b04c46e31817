/** Limits wrong tokens, for each peer and for all together. */
import type { Clock } from '@vmdhcp/kube-runtime';

/** The attempts of a peer, and how long it takes to get one back. */
const OF_PEER = { most: 10, refillMs: 6_000 };
const OF_ALL = { most: 100, refillMs: 100 };
const MOST_PEERS = 1_000;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

export class AttemptLimit {
  readonly #clock: Clock;
  readonly #peers = new Map<string, Bucket>();
  #all: Bucket;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = { left: OF_ALL.most, atMs: clock.nowMs() };
  }

  /**
   * The time until the next attempt of this peer, in milliseconds; 0 for now. @param isTrusted - true if wrong tokens of other peers must not keep it
   * out.
   */
  waitMs(peer: string, isTrusted = false): number {
    const nowMs = this.#clock.nowMs();
    const ofPeer = waitOf(this.#peers.get(peer), OF_PEER, nowMs);
    return isTrusted ? ofPeer : Math.max(ofPeer, waitOf(this.#all, OF_ALL, nowMs));
  }

  noteFailure(peer: string): void {
    const nowMs = this.#clock.nowMs();
    const own = taken(this.#peers.get(peer) ?? { left: OF_PEER.most, atMs: nowMs }, OF_PEER, nowMs);
    this.#peers.delete(peer);
    this.#peers.set(peer, own);
    this.#all = taken(this.#all, OF_ALL, nowMs);
    const [oldest] = this.#peers.keys();
    if (this.#peers.size > MOST_PEERS && oldest !== undefined) this.#peers.delete(oldest);
  }
}

interface Limit {
  readonly most: number;
  readonly refillMs: number;
}

function filled({ left, atMs }: Bucket, { most, refillMs }: Limit, nowMs: number): number {
  return Math.min(most, left + (nowMs - atMs) / refillMs);
}

function taken(bucket: Bucket, limit: Limit, nowMs: number): Bucket {
  return { left: Math.max(0, filled(bucket, limit, nowMs) - 1), atMs: nowMs };
}

function waitOf(bucket: Bucket | undefined, limit: Limit, nowMs: number): number {
  if (bucket === undefined) return 0;
  const left = filled(bucket, limit, nowMs);
  return left >= 1 ? 0 : Math.ceil((1 - left) * limit.refillMs);
}
