import type { CacheSubscription } from '@vmdhcp/kube-runtime';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { ClusterView } from '../view/cluster-view.js';
import type { PoolView } from '../view/pool-views.js';

/** The facts that explain why an address is assigned, or no longer is. */
export interface AssignmentSources {
  readonly view: Pick<ClusterView, 'claimsOf' | 'claimsOn'>;
  readonly caches: {
    readonly virtualMachines: CacheSubscription;
    readonly networkConfigs: CacheSubscription;
  };
}

/** The reports of reconcilers. */
export interface AuditTrail {
  /** The addresses of a pool are about to be written. @returns call it if the write is refused. */
  readonly writing: (pool: string) => (() => void) | undefined;
  /** The plan is recorded. @param pool - the pool before that. */
  readonly observe: (sources: AssignmentSources, pool: PoolView, plan: PoolPlan) => void;
  /** The pool does not exist. */
  readonly gone: (pool: string) => void;
}
