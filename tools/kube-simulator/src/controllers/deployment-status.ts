import { replicaFailureOf } from './replica-failure.js';
import type { Rollout } from './rollout.js';
import { rolloutLimits } from './rollout-limits.js';
import { setCondition } from './set-condition.js';
import { type Condition, type Deployment, type DeploymentStatus, type ReplicaSet, toTime } from './workload-kinds.js';

/** The status that the Deployment should have; `watchProgress` is false if it is only scaled or paused. */
export const deploymentStatus = (rollout: Rollout, watchProgress: boolean): DeploymentStatus => {
  const counts = countReplicas(rollout);
  const available = setCondition(
    rollout.deployment.status?.conditions ?? [],
    availability(rollout, counts.availableReplicas ?? 0),
  );
  const conditions = watchProgress ? withFailure(rollout, withProgress(rollout, counts, available)) : available;
  return { ...counts, ...(conditions.length > 0 ? { conditions } : {}) };
};

export const newCondition = (now: Date, condition: Condition): Condition => ({
  type: condition.type,
  status: condition.status,
  lastUpdateTime: toTime(now),
  lastTransitionTime: toTime(now),
  ...(condition.reason === undefined ? {} : { reason: condition.reason }),
  ...(condition.message === undefined ? {} : { message: condition.message }),
});

/** Counters that are 0 are absent, except the number of terminating replicas. */
const countReplicas = ({ deployment, current, old }: Rollout): DeploymentStatus => {
  const all = current === undefined ? old : [...old, current];
  const sum = (count: (set: ReplicaSet) => number | undefined) => all.reduce((total, set) => total + (count(set) ?? 0), 0);
  const availableReplicas = sum((set) => set.status?.availableReplicas);
  const counters = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum((set) => set.status?.replicas),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum((set) => set.status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, sum((set) => set.spec.replicas) - availableReplicas),
  };
  const present = Object.entries(counters).filter(([, count]) => count !== 0);
  return { ...Object.fromEntries(present), terminatingReplicas: sum((set) => set.status?.terminatingReplicas) };
};

const availability = ({ deployment, now }: Rollout, availableReplicas: number): Condition => {
  const minimum = (deployment.spec.replicas ?? 1) - rolloutLimits(deployment).unavailable;
  return availableReplicas >= minimum
    ? newCondition(now, {
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      })
    : newCondition(now, {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      });
};

const withProgress = (rollout: Rollout, counts: DeploymentStatus, conditions: readonly Condition[]): readonly Condition[] => {
  const { deployment, now } = rollout;
  const before = conditions.find(({ type }) => type === 'Progressing');
  const settled = (counts.replicas ?? 0) === (counts.updatedReplicas ?? 0) && before?.reason === 'NewReplicaSetAvailable';
  if (settled) return conditions;
  const name = describeCurrent(rollout);
  if (isComplete(deployment, counts)) {
    const message = `${name} has successfully progressed.`;
    return setCondition(conditions, progressing(now, { status: 'True', reason: 'NewReplicaSetAvailable', message }));
  }
  if (hasProgressed(deployment.status ?? {}, counts)) {
    const message = `${name} is progressing.`;
    return replaceProgress(conditions, before, progressing(now, { status: 'True', reason: 'ReplicaSetUpdated', message }));
  }
  if (!isOverdue(deployment, before, now)) return conditions;
  const message = `${name} has timed out progressing.`;
  return setCondition(conditions, progressing(now, { status: 'False', reason: 'ProgressDeadlineExceeded', message }));
};

const withFailure = ({ current, old }: Rollout, conditions: readonly Condition[]): readonly Condition[] => {
  const failure = replicaFailureOf(current, old);
  return failure === undefined ? conditions.filter(({ type }) => type !== 'ReplicaFailure') : setCondition(conditions, failure);
};

const describeCurrent = ({ deployment, current }: Rollout): string =>
  current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;

// The time of the last update tells a stuck rollout from a slow one, so it moves although nothing else may differ.
const replaceProgress = (
  conditions: readonly Condition[],
  before: Condition | undefined,
  condition: Condition,
): readonly Condition[] => {
  const since = before?.status === 'True' && before.lastTransitionTime ? { lastTransitionTime: before.lastTransitionTime } : {};
  return [...conditions.filter(({ type }) => type !== 'Progressing'), { ...condition, ...since }];
};

const progressing = (now: Date, condition: Omit<Condition, 'type'>): Condition =>
  newCondition(now, { type: 'Progressing', status: 'Unknown', ...condition });

/** Every wanted Pod is of the current template and available, and no other Pod is left. */
export const isComplete = ({ spec, metadata }: Deployment, counts: DeploymentStatus): boolean => {
  const replicas = spec.replicas ?? 1;
  const reached = [counts.updatedReplicas, counts.replicas, counts.availableReplicas].every((count) => (count ?? 0) === replicas);
  return reached && (counts.observedGeneration ?? 0) >= (metadata.generation ?? 0);
};

const hasProgressed = (before: DeploymentStatus, now: DeploymentStatus): boolean => {
  const outdated = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    outdated(now) < outdated(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
};

const isOverdue = ({ spec }: Deployment, progress: Condition | undefined, now: Date): boolean => {
  if (progress?.lastUpdateTime === undefined || progress.reason === 'NewReplicaSetAvailable') return false;
  return Date.parse(progress.lastUpdateTime) + (spec.progressDeadlineSeconds ?? 600) * 1000 < now.getTime();
};
