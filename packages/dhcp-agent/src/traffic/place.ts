import { ANSWERED, RECEIVED } from './client-history.js';

/**
 * A pool on an interface, with its counts. All have the same object shape from the start: an engine compiles the packet path for it, and discards the
 * code when a number gets another representation.
 */
export class Place {
  readonly id: number;
  readonly interfaceName: string;
  readonly poolName: string;
  /** By the numbers of `RECEIVED` and `ANSWERED`. */
  readonly messages = new Float64Array(RECEIVED.length);
  readonly answers = new Float64Array(ANSWERED.length);
  /** By reason. */
  readonly unanswered = new Map<string, number>();
  /** Milliseconds since 1970; NaN if nothing was received. */
  lastAtMs = Number.NaN;

  constructor(id: number, interfaceName: string, poolName: string) {
    this.id = id;
    this.interfaceName = interfaceName;
    this.poolName = poolName;
  }
}
