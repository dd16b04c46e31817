import type { Deployment, RollingUpdate } from './workload-kinds.js';

/** How far a rollout may leave the wanted number of Pods, in Pods. */
export interface RolloutLimits {
  readonly surge: number;
  readonly unavailable: number;
}

/** The limits of a Deployment: shares of surge are rounded up, of unavailability down; both zero would stop the rollout. */
export const rolloutLimits = ({ spec }: Deployment): RolloutLimits => {
  const replicas = spec.replicas ?? 1;
  if (spec.strategy?.type === 'Recreate' || replicas === 0) return { surge: 0, unavailable: 0 };
  return resolveLimits(spec.strategy?.rollingUpdate ?? {}, replicas);
};

const resolveLimits = ({ maxSurge = '25%', maxUnavailable = '25%' }: RollingUpdate, replicas: number): RolloutLimits => {
  const surge = toPods(maxSurge, replicas, Math.ceil);
  const unavailable = toPods(maxUnavailable, replicas, Math.floor);
  return { surge, unavailable: Math.min(replicas, surge === 0 && unavailable === 0 ? 1 : unavailable) };
};

/** A count, or a share such as `25%` of `total`, in Pods. */
export const toPods = (value: number | string, total: number, round: (share: number) => number): number =>
  typeof value === 'number' ? value : round((Number.parseFloat(value) / 100) * total);
