/** The controller of Deployments: its watches, observations and plans. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { claim } from './claim.js';
import { keyOf } from './object-key.js';
import { type ObservedRollout, planRollout } from './plan-rollout.js';
import type { WorkloadKind, WorkloadPlan } from './workload-controller.js';
import { controllerOf, type Deployment, type KubeObject, type Pod, type ReplicaSet } from './workload-kinds.js';

const deployments = { group: 'apps', resource: 'deployments' };
const replicaSets = { group: 'apps', resource: 'replicasets' };
/** A Deployment with a longer deadline than this has none in practice. */
const longestDeadlineSeconds = 86_400;

export const deploymentWorkload: WorkloadKind<Deployment, ObservedRollout> = {
  kind: deployments,
  component: 'deployment-controller',
  watches: [
    { kind: replicaSets, concerns: ownersOfReplicaSet },
    { kind: { resource: 'pods' }, concerns: ownersOfDeletedPod },
  ],
  observe,
  plan: planDeployment,
};

function ownersOfReplicaSet({ object }: WatchEvent, api: ApiClient): readonly string[] {
  const { namespace = '' } = object.metadata;
  const owner = controllerOf(object as KubeObject);
  if (owner === undefined) return api.list({ ...deployments, namespace }).map(keyOf);
  return owner.kind === 'Deployment' ? [`${namespace}/${owner.name}`] : [];
}

/** With the strategy Recreate the last old Pod that goes makes room for the first new one. */
function ownersOfDeletedPod({ type, object }: WatchEvent, api: ApiClient): readonly string[] {
  const owner = controllerOf(object as Pod);
  if (type !== 'DELETED' || owner?.kind !== 'ReplicaSet') return [];
  const { namespace = '' } = object.metadata;
  const replicaSet = api.get({ ...replicaSets, namespace, name: owner.name });
  return replicaSet === undefined ? [] : ownersOfReplicaSet({ type: 'MODIFIED', object: replicaSet }, api);
}

async function observe(api: ApiClient, deployment: Deployment): Promise<ObservedRollout> {
  const { selector } = deployment.spec;
  const claimed = await claim<ReplicaSet>(api, { owner: deployment, selector, kind: replicaSets });
  const uids = new Set(claimed.map(({ metadata }) => metadata.uid));
  const { namespace = '' } = deployment.metadata;
  const pods = api.list({ resource: 'pods', namespace }) as readonly Pod[];
  return { deployment, replicaSets: claimed, pods: pods.filter((pod) => uids.has(controllerOf(pod)?.uid)) };
}

/** A rollout that makes progress is checked again when its deadline has passed. */
function planDeployment(observed: ObservedRollout, now: Date): WorkloadPlan {
  const actions = planRollout(observed, now);
  const { progressDeadlineSeconds = 600 } = observed.deployment.spec;
  if (actions.length === 0 || progressDeadlineSeconds >= longestDeadlineSeconds) return { actions };
  return { actions, recheckAfterMs: (progressDeadlineSeconds + 1) * 1000 };
}
