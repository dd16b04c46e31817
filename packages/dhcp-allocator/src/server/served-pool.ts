import type { Lease } from '../lease/lease.js';
import type { Pool } from '../pool/pool.js';
import { ReplyComposer } from './reply-composer.js';

/** A pool with its prepared replies. */
export class ServedPool {
  readonly pool: Pool;
  readonly composer: ReplyComposer;

  constructor(pool: Pool) {
    this.pool = pool;
    this.composer = new ReplyComposer(pool);
  }
}

/** What a server knows when a packet comes in on an interface. */
export interface Serving {
  /** The pools of that interface; the first one is asked first. */
  readonly pools: readonly ServedPool[];
  readonly leaseOf: (poolName: string, macAddress: string) => Lease | undefined;
  /** Memory for the reply, at least 1472 octets; default: new memory for each. */
  readonly into?: Uint8Array;
}
