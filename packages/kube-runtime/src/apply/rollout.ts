/**
 * How far the rollout of a workload's newest pod template is, by the rules of `kubectl rollout status`. A workload is a Deployment, a DaemonSet or a
 * StatefulSet.
 */
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readList, readText } from '../object/read-field.js';

export type Rollout =
  /** The workload does not exist. */
  | { readonly kind: 'missing' }
  /** Some pods have an older template, or are not ready. `message`: what the rollout waits for. */
  | { readonly kind: 'in-progress'; readonly message: string }
  /** Kubernetes gave up the rollout; it continues when the template or the cluster changes. */
  | { readonly kind: 'stuck'; readonly message: string }
  /** Every pod has the newest template, and is ready. */
  | { readonly kind: 'complete' };

/** A number that the status has to reach. */
interface Step {
  readonly count: number;
  readonly of: number;
  readonly what: string;
}

const COMPLETE: Rollout = { kind: 'complete' };

/** @throws RangeError for an object of a kind that has no rollout. */
export function rolloutOf(workload: KubernetesObject | undefined): Rollout {
  if (workload === undefined) return { kind: 'missing' };
  const stepsOf = STEPS[workload.kind ?? 'Deployment'];
  if (stepsOf === undefined) throw new RangeError(`a ${workload.kind} has no rollout`);
  if (countOf(workload, 'observedGeneration') < (workload.metadata.generation ?? 0))
    return { kind: 'in-progress', message: 'the controller of the workload has not seen its newest spec' };
  const step = stepsOf(workload).find(({ count, of }) => count !== of);
  if (step === undefined) return COMPLETE;
  const stuck = stuckMessage(workload);
  if (stuck !== undefined) return { kind: 'stuck', message: stuck };
  return { kind: 'in-progress', message: `${step.count} of ${step.of} pods ${step.what}` };
}

/** True if every pod of the workload has its newest template, and is ready. */
export function isRolledOut(workload: KubernetesObject | undefined): boolean {
  return rolloutOf(workload).kind === 'complete';
}

const STEPS: Readonly<Record<string, (workload: KubernetesObject) => readonly Step[]>> = {
  Deployment: (deployment) => {
    const of = replicasOf(deployment);
    return [
      { count: countOf(deployment, 'updatedReplicas'), of, what: 'are of the newest template' },
      { count: countOf(deployment, 'replicas'), of, what: 'exist; pods of an older template are left' },
      { count: countOf(deployment, 'readyReplicas'), of, what: 'are ready' },
    ];
  },
  DaemonSet: (daemonSet) => {
    const of = countOf(daemonSet, 'desiredNumberScheduled');
    return [
      { count: countOf(daemonSet, 'updatedNumberScheduled'), of, what: 'are of the newest template' },
      { count: countOf(daemonSet, 'numberReady'), of, what: 'are ready' },
    ];
  },
  StatefulSet: (statefulSet) => {
    const of = replicasOf(statefulSet);
    // Pods below the partition keep their template on purpose.
    const partition = Number(readField(statefulSet.spec, 'updateStrategy', 'rollingUpdate', 'partition') ?? 0);
    const updated = { count: countOf(statefulSet, 'updatedReplicas'), of: Math.max(0, of - partition) };
    return [
      { ...updated, count: Math.min(updated.count, updated.of), what: 'are of the newest template' },
      { count: countOf(statefulSet, 'replicas'), of, what: 'exist' },
      { count: countOf(statefulSet, 'readyReplicas'), of, what: 'are ready' },
    ];
  },
};

function replicasOf(workload: KubernetesObject): number {
  return Number(readField(workload.spec, 'replicas') ?? 1);
}

function countOf(workload: KubernetesObject, name: string): number {
  return Number(readField(workload.status, name) ?? 0);
}

/** Only Deployments have such a condition. */
function stuckMessage({ status }: KubernetesObject): string | undefined {
  const condition = readList(status, 'conditions').find((one) => readText(one, 'type') === 'Progressing');
  if (readText(condition, 'status') !== 'False') return undefined;
  return readText(condition, 'message') ?? readText(condition, 'reason') ?? 'the rollout makes no progress';
}
