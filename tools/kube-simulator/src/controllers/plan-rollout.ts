/**
 * Plans the next steps of a Deployment, one step of a rollout at a time: new Pods are added as far as `maxSurge` allows, old ones are removed as far
 * as `maxUnavailable` allows, and the resulting changes of status trigger the next plan. After a plan was carried out, the next plan is empty until a
 * Pod changes.
 */
import { isDeepStrictEqual } from 'node:util';
import { deploymentStatus, isComplete, newCondition } from './deployment-status.js';
import { afterwards, isActive, type Rollout, type RolloutAction, toRollout } from './rollout.js';
import { prepareCurrent, revisionOf } from './rollout-revision.js';
import { growCurrent, isScaled, planSizes, scale, shrinkOld } from './rollout-scale.js';
import { setCondition } from './set-condition.js';
import {
  controllerOf,
  type Deployment,
  type DeploymentStatus,
  isDeleting,
  isFinished,
  type Pod,
  type ReplicaSet,
} from './workload-kinds.js';

export interface ObservedRollout {
  readonly deployment: Deployment;
  /** The ReplicaSets that the Deployment controls. */
  readonly replicaSets: readonly ReplicaSet[];
  /** The Pods of the Deployment's ReplicaSets. */
  readonly pods: readonly Pod[];
}

/** The steps, in order; none if there is nothing to do now. */
export const planRollout = (observed: ObservedRollout, now: Date): readonly RolloutAction[] => {
  const rollout = toRollout(observed, now);
  if (isDeleting(observed.deployment)) return report(rollout, false);
  if (observed.deployment.spec.paused || isScaled(rollout)) return planScaling(rollout);
  return observed.deployment.spec.strategy?.type === 'Recreate' ? planRecreation(rollout, observed.pods) : planRolling(rollout);
};

const planRolling = (rollout: Rollout): readonly RolloutAction[] =>
  firstOf(
    rollout,
    () => planGrowth(rollout),
    () => shrinkOld(rollout),
  );

const planRecreation = (rollout: Rollout, pods: readonly Pod[]): readonly RolloutAction[] =>
  firstOf(rollout, () => {
    const down = rollout.old.filter(isActive).map((set) => scale(rollout, set, 0));
    const waiting = pods.some((pod) => isOldPod(pod, rollout.current) && !isFinished(pod));
    return down.length > 0 || waiting ? down : planGrowth(rollout);
  });

const planGrowth = (rollout: Rollout): readonly RolloutAction[] => {
  const prepared = prepareCurrent(rollout);
  return prepared.length > 0 ? prepared : growCurrent(rollout);
};

/** The actions of the first step that has any, or else the cleanup of old ReplicaSets; then the status. */
const firstOf = (rollout: Rollout, ...steps: readonly (() => readonly RolloutAction[])[]): readonly RolloutAction[] => {
  for (const step of steps) {
    const actions = step();
    if (actions.length > 0) return [...actions, ...report(afterwards(rollout, actions), true)];
  }
  return [...planCleanup(rollout), ...report(rollout, true)];
};

const isOldPod = (pod: Pod, current: ReplicaSet | undefined): boolean => controllerOf(pod)?.uid !== current?.metadata.uid;

/** A change of `spec.replicas`, in the middle of a rollout or not, or of a paused Deployment. */
const planScaling = (rollout: Rollout): readonly RolloutAction[] => {
  const scaled = planSizes(rollout);
  const after = afterwards(rollout, scaled);
  const status = deploymentStatus({ ...after, deployment: showPaused(rollout) }, false);
  return [...scaled, ...reportStatus(rollout.deployment, status)];
};

const showPaused = ({ deployment, now }: Rollout): Deployment => {
  if (!deployment.spec.paused) return deployment;
  const condition = newCondition(now, {
    type: 'Progressing',
    status: 'Unknown',
    reason: 'DeploymentPaused',
    message: 'Deployment is paused',
  });
  return {
    ...deployment,
    status: { ...deployment.status, conditions: setCondition(deployment.status?.conditions ?? [], condition) },
  };
};

/** Old empty ReplicaSets beyond the history limit are deleted once the rollout is complete. */
const planCleanup = (rollout: Rollout): readonly RolloutAction[] => {
  const { deployment, old } = rollout;
  if (!isComplete(deployment, deploymentStatus(rollout, false))) return [];
  const empty = old.filter((set) => !isActive(set) && (set.status?.replicas ?? 0) === 0 && !isDeleting(set));
  const surplus = old.length - (deployment.spec.revisionHistoryLimit ?? 10);
  const byRevision = empty.toSorted((a, b) => revisionOf(a) - revisionOf(b));
  return byRevision.slice(0, Math.max(0, surplus)).map((set) => ({ kind: 'delete-replica-set', name: set.metadata.name ?? '' }));
};

const report = (rollout: Rollout, watchProgress: boolean): readonly RolloutAction[] =>
  reportStatus(rollout.deployment, deploymentStatus(rollout, watchProgress));

const reportStatus = (deployment: Deployment, status: DeploymentStatus): readonly RolloutAction[] =>
  isDeepStrictEqual(status, deployment.status) ? [] : [{ kind: 'report', workload: { ...deployment, status } }];
