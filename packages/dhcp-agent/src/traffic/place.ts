import { ANSWERED, RECEIVED } from './client-history.js';

/**
 * A pool on an interface, with its counts. All have one shape from the first on: an engine compiles the packet path for it, and throws away what it has compiled
 * when a number gets another representation.
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
  /** Milliseconds since 1970; NaN: nothing was received. */
  lastAtMs = Number.NaN;

  constructor(id: number, interfaceName: string, poolName: string) {
    this.id = id;
    this.interfaceName = interfaceName;
    this.poolName = poolName;
  }
}
