import type { CacheSubscription } from '@vmdhcp/kube-runtime';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { ClusterView } from '../view/cluster-view.js';
import type { PoolView } from '../view/pool-views.js';

/** What tells why an address is assigned, or is no longer. */
export interface AssignmentSources {
  readonly view: Pick<ClusterView, 'claimsOf'>;
  readonly caches: {
    readonly virtualMachines: CacheSubscription;
    readonly networkConfigs: CacheSubscription;
  };
}

/** What reconcilers report. */
export interface AuditTrail {
  /** The addresses of a pool are about to be written. */
  readonly writing: (pool: string) => void;
  /** The plan is recorded. @param pool - as it was before. */
  readonly observe: (sources: AssignmentSources, pool: PoolView, plan: PoolPlan) => void;
  /** The pool does not exist. */
  readonly gone: (pool: string) => void;
}
