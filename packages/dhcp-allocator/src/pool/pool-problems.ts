import type { Problem } from '../problem.js';

/** The kind of mistake in a pool, for programs to compare. */
export type PoolProblemReason =
  | 'not-a-cidr'
  | 'not-an-address'
  | 'not-a-range'
  | 'not-a-mac-address'
  | 'not-a-host-name'
  | 'not-text'
  | 'number-out-of-bounds'
  | 'too-many'
  | 'outside-subnet'
  | 'host-bits-set'
  | 'is-network-address'
  | 'is-broadcast-address'
  | 'not-a-host-address'
  | 'server-is-router'
  | 'range-reversed'
  | 'range-too-large'
  | 'no-server-address-left'
  | 'reservation-in-use'
  | 'address-reserved-twice'
  | 'mac-reserved-twice'
  | 'architecture-twice'
  | 'option-twice'
  | 'option-not-allowed'
  | 'not-an-option-value';

/** The problems found so far. */
export class PoolProblems {
  readonly all: Problem<PoolProblemReason>[] = [];

  add(reason: PoolProblemReason, problem: Omit<Problem<PoolProblemReason>, 'reason'>): void {
    this.all.push({ reason, ...problem });
  }

  /** True if nothing was wrong with the top-level field so far. */
  isClear(field: string): boolean {
    return !this.all.some((problem) => problem.path[0] === field);
  }
}
