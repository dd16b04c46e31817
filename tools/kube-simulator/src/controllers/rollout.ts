import type { ReplicaSetAction } from './apply-actions.js';
import { hashTemplate } from './template-hash.js';
import type { Deployment, PodTemplate, ReplicaSet } from './workload-kinds.js';

/** A Deployment with the ReplicaSets that it controls. */
export interface Rollout {
  readonly deployment: Deployment;
  /** The ReplicaSet with the Deployment's template, if it exists. */
  readonly current: ReplicaSet | undefined;
  /** All others, oldest first. */
  readonly old: readonly ReplicaSet[];
  readonly now: Date;
}

/** One step of a rollout. */
export type RolloutAction = ReplicaSetAction | { readonly kind: 'report'; readonly workload: Deployment };

export const hashLabel = 'pod-template-hash';

/** Which of the ReplicaSets has the Deployment's template, and which have older ones. */
export const toRollout = ({ deployment, replicaSets }: Sources, now: Date): Rollout => {
  const hash = hashTemplate(deployment.spec.template);
  const byAge = replicaSets.toSorted((a, b) => ageKey(a).localeCompare(ageKey(b)));
  const current = byAge.find((set) => hashTemplate(withoutHash(set.spec.template)) === hash);
  return { deployment, current, old: byAge.filter((set) => set !== current), now };
};

const ageKey = ({ metadata }: ReplicaSet): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;

const withoutHash = (template: PodTemplate): PodTemplate => {
  const { [hashLabel]: _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
};

interface Sources {
  readonly deployment: Deployment;
  readonly replicaSets: readonly ReplicaSet[];
}

export const replicasOf = (set: ReplicaSet | undefined): number => set?.spec.replicas ?? 0;
export const wantedReplicas = ({ spec }: Deployment): number => spec.replicas ?? 1;
export const availableOf = (set: ReplicaSet | undefined): number => set?.status?.availableReplicas ?? 0;
export const isActive = (set: ReplicaSet): boolean => replicasOf(set) > 0;
export const allOf = ({ current, old }: Rollout): readonly ReplicaSet[] => (current === undefined ? old : [...old, current]);
export const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number): number =>
  sets.reduce((total, set) => total + count(set), 0);

/** The rollout as it is after these actions. */
export const afterwards = (rollout: Rollout, actions: readonly RolloutAction[]): Rollout => actions.reduce(afterAction, rollout);

const afterAction = (rollout: Rollout, action: RolloutAction): Rollout => {
  switch (action.kind) {
    case 'create-replica-set':
      return { ...rollout, current: action.replicaSet };
    case 'update-replica-set': {
      const { name } = action.replicaSet.metadata;
      const after = (set: ReplicaSet) => (set.metadata.name === name ? action.replicaSet : set);
      return { ...rollout, current: rollout.current && after(rollout.current), old: rollout.old.map(after) };
    }
    case 'report':
      return { ...rollout, deployment: action.workload };
    case 'delete-replica-set':
      return rollout;
  }
};
