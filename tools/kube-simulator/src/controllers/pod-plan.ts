import type { JsonObject } from '../api-object.js';
import type { WorkloadPlan } from './workload-controller.js';
import { isReady, type KubeObject, type Pod } from './workload-kinds.js';

/** The changes to the Pods of a workload, and its new status. */
export interface PodPlan {
  readonly create: readonly Pod[];
  /** Names of Pods to delete. */
  readonly remove: readonly string[];
  /** Undefined: nothing new to report. */
  readonly status: JsonObject | undefined;
}

interface PodOwner extends KubeObject {
  readonly spec: { readonly minReadySeconds?: number };
}

/** The plan as actions: creates, then deletes, then the report. A Pod that is ready is checked again when it becomes available. */
export const toWorkloadPlan = (workload: PodOwner, pods: readonly Pod[], { create, remove, status }: PodPlan): WorkloadPlan => {
  const { minReadySeconds = 0 } = workload.spec;
  return {
    actions: [
      ...create.map((pod) => ({ kind: 'create-pod', pod }) as const),
      ...remove.map((name) => ({ kind: 'delete-pod', name }) as const),
      ...(status === undefined ? [] : [{ kind: 'report', workload: { ...workload, status } } as const]),
    ],
    ...(minReadySeconds > 0 && pods.some(isReady) && { recheckAfterMs: minReadySeconds * 1000 }),
  };
};
