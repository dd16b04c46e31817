import type { Assignment, PoolCounts } from '@vmdhcp/dhcp-allocator';
import type { RefusedClaim } from '@vmdhcp/reconciler/plan-assignments';
import type { ConfiguredPool } from '../pools-file/parse-pools-file.js';

/** A pool with its plan. */
export interface PlannedPool {
  readonly configured: ConfiguredPool;
  readonly assignments: readonly Assignment[];
  readonly refused: readonly RefusedClaim[];
  readonly counts: PoolCounts;
}
