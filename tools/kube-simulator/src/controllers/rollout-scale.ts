/** How many Pods each ReplicaSet of a Deployment may have. */
import { allOf, availableOf, isActive, type Rollout, type RolloutAction, replicasOf, sum, wantedReplicas } from './rollout.js';
import { rolloutLimits } from './rollout-limits.js';
import { withAnnotations } from './with-annotations.js';
import type { Deployment, ReplicaSet } from './workload-kinds.js';

const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

/** The Deployment's number of replicas when the ReplicaSet was last scaled; a difference shows that the Deployment was scaled since. */
export const scaleAnnotations = (deployment: Deployment) => ({
  [desiredAnnotation]: String(wantedReplicas(deployment)),
  [maxAnnotation]: String(wantedReplicas(deployment) + rolloutLimits(deployment).surge),
});

/** The Deployment's own number of replicas changed since its ReplicaSets were scaled last. */
export const isScaled = (rollout: Rollout): boolean =>
  allOf(rollout)
    .filter(isActive)
    .some(({ metadata }) => {
      const desired = metadata.annotations?.[desiredAnnotation];
      return desired !== undefined && Number(desired) !== wantedReplicas(rollout.deployment);
    });

/** How many replicas the current ReplicaSet may have now. */
export const wantedOfCurrent = (rollout: Rollout): number => {
  const { deployment, current } = rollout;
  const wanted = wantedReplicas(deployment);
  if (deployment.spec.strategy?.type === 'Recreate') return wanted;
  const room = wanted + rolloutLimits(deployment).surge - sum(allOf(rollout), replicasOf);
  return room <= 0 ? replicasOf(current) : replicasOf(current) + Math.min(room, wanted - replicasOf(current));
};

export const scale = (rollout: Rollout, set: ReplicaSet, replicas: number): RolloutAction => {
  const before = replicasOf(set);
  const annotations = { ...set.metadata.annotations, ...scaleAnnotations(rollout.deployment) };
  const scaled = withAnnotations({ ...set, spec: { ...set.spec, replicas } }, annotations);
  if (before === replicas) return { kind: 'update-replica-set', replicaSet: scaled };
  const direction = replicas > before ? 'up' : 'down';
  const event = `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${replicas}`;
  return { kind: 'update-replica-set', replicaSet: scaled, event };
};

/** The current ReplicaSet gets as many replicas as it may have now. */
export const growCurrent = (rollout: Rollout): readonly RolloutAction[] => {
  const { current, deployment } = rollout;
  const wanted = wantedReplicas(deployment);
  if (current === undefined || replicasOf(current) === wanted) return [];
  const next = replicasOf(current) > wanted ? wanted : wantedOfCurrent(rollout);
  return next === replicasOf(current) ? [] : [scale(rollout, current, next)];
};

/** Old Pods that are not available go first; then available ones, as long as enough are left. */
export const shrinkOld = (rollout: Rollout): readonly RolloutAction[] => {
  const { deployment, current, old } = rollout;
  const needed = wantedReplicas(deployment) - rolloutLimits(deployment).unavailable;
  const startingOfCurrent = Math.max(0, replicasOf(current) - availableOf(current));
  const removable = sum(allOf(rollout), replicasOf) - needed - startingOfCurrent;
  if (removable <= 0) return [];
  const withoutBroken = takeAway(old, removable, (set) => replicasOf(set) - availableOf(set));
  const spare = sum(allOf(rollout), availableOf) - needed;
  const target = takeAway(withoutBroken, spare, replicasOf);
  return target.flatMap((set, index) => {
    const before = old[index];
    return before === undefined || replicasOf(set) === replicasOf(before) ? [] : [scale(rollout, before, replicasOf(set))];
  });
};

const takeAway = (sets: readonly ReplicaSet[], most: number, removable: (set: ReplicaSet) => number): readonly ReplicaSet[] => {
  let left = most;
  return sets.map((set) => {
    const count = Math.max(0, Math.min(left, removable(set)));
    left -= count;
    return count === 0 ? set : { ...set, spec: { ...set.spec, replicas: replicasOf(set) - count } };
  });
};

/** Every ReplicaSet gets its share of the wanted number. */
export const planSizes = (rollout: Rollout): readonly RolloutAction[] => {
  const { deployment, current, old } = rollout;
  const wanted = wantedReplicas(deployment);
  const active = allOf(rollout).filter(isActive);
  const only = active.length === 0 ? (current ?? old.at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only !== undefined) return replicasOf(only) === wanted ? refreshed(rollout, only) : [scale(rollout, only, wanted)];
  if (isSaturated(rollout)) return old.filter(isActive).map((set) => scale(rollout, set, 0));
  return proportionally(rollout, active);
};

const refreshed = (rollout: Rollout, set: ReplicaSet): readonly RolloutAction[] => {
  const action = scale(rollout, set, replicasOf(set));
  return action.kind === 'update-replica-set' && action.replicaSet.metadata !== set.metadata && isActive(set) ? [action] : [];
};

const isSaturated = ({ deployment, current }: Rollout): boolean =>
  replicasOf(current) === wantedReplicas(deployment) && availableOf(current) === wantedReplicas(deployment);

/** Every ReplicaSet grows or shrinks by its share; the largest takes what rounding leaves. */
const proportionally = (rollout: Rollout, active: readonly ReplicaSet[]): readonly RolloutAction[] => {
  const wanted = wantedReplicas(rollout.deployment);
  const total = sum(active, replicasOf);
  const allowed = wanted === 0 ? 0 : wanted + rolloutLimits(rollout.deployment).surge;
  const sizes = active.map((set) => Math.round((replicasOf(set) * allowed) / total));
  const largest = active.reduce((best, set, index) => (replicasOf(set) >= replicasOf(active[best]) ? index : best), 0);
  const rest = allowed - sizes.reduce((a, b) => a + b, 0);
  return active.map((set, index) => scale(rollout, set, Math.max(0, (sizes[index] ?? 0) + (index === largest ? rest : 0))));
};
