/** Plans the next steps of a ReplicaSet. */
import { isDeepStrictEqual } from 'node:util';
import { selectorMatches } from '../label-selector.js';
import type { PodPlan } from './pod-plan.js';
import { withReplicaFailure } from './replica-failure.js';
import {
  controlledBy,
  isAvailable,
  isDeleting,
  isFinished,
  isReady,
  type Pod,
  type PodTemplate,
  type ReplicaSet,
  type ReplicaSetStatus,
} from './workload-kinds.js';

export interface ObservedReplicas {
  readonly replicaSet: ReplicaSet;
  /** The Pods that the ReplicaSet controls. */
  readonly pods: readonly Pod[];
}

interface Sources extends ObservedReplicas {
  readonly now: Date;
  /** Why the last Pod was refused; if set, no Pod is created. */
  readonly refusal?: string;
}

/** The Pods to create or delete so that as many are active as are wanted, and the status for the Pods as they are. */
export const planReplicas = ({ replicaSet, pods, now, refusal }: Sources): PodPlan => {
  const active = pods.filter((pod) => !isFinished(pod) && !isDeleting(pod));
  const missing = (replicaSet.spec.replicas ?? 1) - active.length;
  const status = withReplicaFailure(replicaSetStatus(replicaSet, pods, now), refusal, now);
  const creates = isDeleting(replicaSet) || refusal !== undefined ? 0 : Math.max(0, missing);
  return {
    create: Array.from({ length: creates }, () => podFromTemplate(replicaSet, replicaSet.spec.template)),
    remove: isDeleting(replicaSet) ? [] : leastNeeded(active, -missing),
    status: isDeepStrictEqual(status, replicaSet.status) ? undefined : status,
  };
};

/** A Pod of the template, without a name of its own, controlled by `owner`. */
export const podFromTemplate = (owner: ReplicaSet | Parameters<typeof controlledBy>[0], template: PodTemplate): Pod => {
  const { labels, annotations } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controlledBy(owner)],
    },
    spec: template.spec,
  };
};

const replicaSetStatus = ({ spec, metadata, status }: ReplicaSet, pods: readonly Pod[], now: Date): ReplicaSetStatus => {
  const alive = pods.filter((pod) => !isFinished(pod));
  const active = alive.filter((pod) => !isDeleting(pod));
  const labelled = active.filter((pod) =>
    selectorMatches({ matchLabels: spec.template.metadata?.labels ?? {} }, pod.metadata.labels ?? {}),
  );
  const counters = {
    fullyLabeledReplicas: labelled.length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now)).length,
  };
  return {
    replicas: active.length,
    ...Object.fromEntries(Object.entries(counters).filter(([, count]) => count !== 0)),
    terminatingReplicas: alive.length - active.length,
    observedGeneration: metadata.generation ?? 0,
    ...(status?.conditions === undefined ? {} : { conditions: status.conditions }),
  };
};

/** Unscheduled before scheduled, pending before running, unready before ready, ready for a short time before ready for long, young before old. */
const leastNeeded = (pods: readonly Pod[], count: number): readonly string[] =>
  pods
    .toSorted((a, b) => compareWorth(worthOf(a), worthOf(b)))
    .slice(0, Math.max(0, count))
    .map((pod) => pod.metadata.name ?? '');

const worthOf = (pod: Pod): readonly number[] => [
  pod.spec.nodeName === undefined ? 0 : 1,
  ['Pending', 'Unknown', 'Running'].indexOf(pod.status?.phase ?? 'Pending'),
  isReady(pod) ? 1 : 0,
  -readySince(pod),
  -Date.parse(pod.metadata.creationTimestamp ?? ''),
];

const readySince = (pod: Pod): number => {
  const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
  return Date.parse(ready?.lastTransitionTime ?? '') || 0;
};

const compareWorth = (a: readonly number[], b: readonly number[]): number => {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index < 0 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
};
