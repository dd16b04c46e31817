/** The controller of ReplicaSets: its watches, observations and plans. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { claim } from './claim.js';
import { keyOf } from './object-key.js';
import { type ObservedReplicas, planReplicas } from './plan-replicas.js';
import { toWorkloadPlan } from './pod-plan.js';
import type { WorkloadKind } from './workload-controller.js';
import { controllerOf, type KubeObject, type Pod, type ReplicaSet } from './workload-kinds.js';

const replicaSets = { group: 'apps', resource: 'replicasets' };
const podKind = { resource: 'pods' };

export const replicaSetWorkload: WorkloadKind<ReplicaSet, ObservedReplicas> = {
  kind: replicaSets,
  component: 'replicaset-controller',
  watches: [{ kind: podKind, concerns: ownersOfPod }],
  observe: async (api, replicaSet) => {
    const { selector } = replicaSet.spec;
    return { replicaSet, pods: await claim<Pod>(api, { owner: replicaSet, selector, kind: podKind }) };
  },
  plan: (observed, now, refusal) =>
    toWorkloadPlan(
      observed.replicaSet,
      observed.pods,
      planReplicas({ ...observed, now, ...(refusal !== undefined && { refusal }) }),
    ),
};

/** Its controller, its previous controller, and the ReplicaSets that may adopt a Pod without one. */
function ownersOfPod({ object, oldObject }: WatchEvent, api: ApiClient): readonly string[] {
  const { namespace = '' } = object.metadata;
  const owners = [object, oldObject].flatMap((pod) => {
    const owner = pod === undefined ? undefined : controllerOf(pod as KubeObject);
    return owner?.kind === 'ReplicaSet' ? [`${namespace}/${owner.name}`] : [];
  });
  if (controllerOf(object as KubeObject) !== undefined || object.metadata['labels'] === undefined) return owners;
  return [...owners, ...api.list({ ...replicaSets, namespace }).map(keyOf)];
}
