/** How ReplicaSets and Deployments report that Pods cannot be created. */
import { type Condition, type ReplicaSet, type ReplicaSetStatus, toTime } from './workload-kinds.js';

const TYPE = 'ReplicaFailure';

/** The status with the failure to create Pods, or without one. The first message stays as long as it fails. */
export const withReplicaFailure = (status: ReplicaSetStatus, message: string | undefined, now: Date): ReplicaSetStatus => {
  const { conditions = [], ...others } = status;
  const known = conditions.find(({ type }) => type === TYPE);
  if ((known !== undefined) === (message !== undefined)) return status;
  const kept = conditions.filter((condition) => condition !== known);
  const failed = { type: TYPE, status: 'True', lastTransitionTime: toTime(now), reason: 'FailedCreate' };
  const changed = message === undefined ? kept : [...kept, { ...failed, message }];
  return { ...others, ...(changed.length > 0 && { conditions: changed }) };
};

/** The failure that a Deployment reports: of its current ReplicaSet, else of an earlier one. */
export const replicaFailureOf = (current: ReplicaSet | undefined, old: readonly ReplicaSet[]): Condition | undefined => {
  const failures = [...(current === undefined ? [] : [current]), ...old].flatMap(({ status }) =>
    (status?.conditions ?? []).filter(({ type }) => type === TYPE),
  );
  const [failure] = failures;
  if (failure === undefined) return undefined;
  return { ...failure, ...(failure.lastTransitionTime && { lastUpdateTime: failure.lastTransitionTime }) };
};
