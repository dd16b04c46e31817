import type { ReconcileResult } from './keyed-queue.js';

const URGENCY: Readonly<Record<ReconcileResult['kind'], number>> = { retry: 3, recheck: 2, terminal: 1, settled: 0 };

/**
 * Combines the results of several parts of a reconcile: the one that needs attention soonest. `retry` comes before `recheck`, `recheck` before
 * `terminal`, and `terminal` before `settled`; of two of one kind it is the earlier one.
 */
export function mostUrgent(one: ReconcileResult, other: ReconcileResult): ReconcileResult {
  const difference = URGENCY[one.kind] - URGENCY[other.kind];
  if (difference !== 0) return difference > 0 ? one : other;
  return afterMs(one) <= afterMs(other) ? one : other;
}

function afterMs(result: ReconcileResult): number {
  if (result.kind === 'recheck') return result.afterMs;
  return result.kind === 'terminal' ? (result.recheckAfterMs ?? Number.POSITIVE_INFINITY) : 0;
}
