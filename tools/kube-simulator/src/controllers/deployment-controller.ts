/** Carries out the rollouts of Deployments. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import type { ObjectMeta } from '../api-object.js';
import { isMissing } from './api-outcome.js';
import { claim } from './claim.js';
import type { ControllerContext } from './controller-context.js';
import { EventRecorder } from './event-recorder.js';
import { keyOf, parseKey } from './object-key.js';
import { planRollout } from './plan-rollout.js';
import type { RolloutAction } from './rollout.js';
import { WorkQueue } from './work-queue.js';
import { controllerOf, type Deployment, type KubeObject, type Pod, type ReplicaSet } from './workload-kinds.js';

const deployments = { group: 'apps', resource: 'deployments' };
const replicaSets = { group: 'apps', resource: 'replicasets' };

export class DeploymentController {
  readonly #api: ApiClient;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];

  constructor({ api, onError }: ControllerContext) {
    this.#api = api;
    this.#events = new EventRecorder(() => api, 'deployment-controller');
    this.#queue = new WorkQueue({ handle: (key) => this.#handle(key), onError });
    this.#unwatch = [
      api.watch(deployments, ({ object }) => this.#queue.add(keyOf(object))),
      api.watch(replicaSets, (event) => this.#addOwner(event)),
      api.watch({ resource: 'pods' }, (event) => this.#addRecreated(event)),
    ];
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await this.#queue.stop();
  }

  #addOwner({ object }: WatchEvent): void {
    const { namespace = '' } = object.metadata;
    const owner = controllerOf(object as KubeObject);
    if (owner?.kind === 'Deployment') this.#queue.add(`${namespace}/${owner.name}`);
    if (owner !== undefined) return;
    for (const deployment of this.#api.list({ ...deployments, namespace })) this.#queue.add(keyOf(deployment));
  }

  /** With the strategy Recreate the last old Pod that goes makes room for the first new one. */
  #addRecreated({ type, object }: WatchEvent): void {
    const owner = controllerOf(object as Pod);
    if (type !== 'DELETED' || owner?.kind !== 'ReplicaSet') return;
    const { namespace = '' } = object.metadata;
    const replicaSet = this.#api.get({ ...replicaSets, namespace, name: owner.name });
    if (replicaSet !== undefined) this.#addOwner({ type: 'MODIFIED', object: replicaSet });
  }

  async #handle(key: string): Promise<void> {
    const deployment = this.#api.get({ ...deployments, ...parseKey(key) }) as Deployment | undefined;
    if (deployment === undefined) return;
    const claimed = await claim<ReplicaSet>(this.#api, {
      owner: deployment,
      selector: deployment.spec.selector,
      kind: replicaSets,
    });
    const uids = new Set(claimed.map(({ metadata }) => metadata.uid));
    const { namespace = '' } = deployment.metadata;
    const all = this.#api.list({ resource: 'pods', namespace }) as readonly Pod[];
    const pods = all.filter((pod) => uids.has(controllerOf(pod)?.uid));
    const actions = planRollout({ deployment, replicaSets: claimed, pods, now: new Date() });
    await this.#apply(deployment, actions);
    const { progressDeadlineSeconds = 600 } = deployment.spec;
    if (actions.length > 0 && progressDeadlineSeconds < 86_400) this.#queue.addAfter(key, (progressDeadlineSeconds + 1) * 1000);
  }

  async #apply(deployment: Deployment, actions: readonly RolloutAction[]): Promise<void> {
    let written: ObjectMeta = deployment.metadata;
    for (const action of actions) {
      if (action.kind === 'report') written = await this.#report(action.deployment, written);
      else await this.#change(deployment, action);
    }
  }

  /** Reports of one plan follow each other: each goes on from what the server made of the one before. */
  async #report(deployment: Deployment, { resourceVersion, managedFields }: ObjectMeta): Promise<ObjectMeta> {
    const path = { ...deployments, ...parseKey(keyOf(deployment)), subresource: 'status' };
    const numbered = resourceVersion === undefined ? {} : { resourceVersion };
    const metadata = { ...deployment.metadata, ...numbered, ...(managedFields === undefined ? {} : { managedFields }) };
    return (await this.#api.update(path, { ...deployment, metadata })).metadata;
  }

  async #change(deployment: Deployment, action: Exclude<RolloutAction, { kind: 'report' }>): Promise<void> {
    const { namespace = '' } = deployment.metadata;
    switch (action.kind) {
      case 'create-replica-set':
        await this.#api.create({ ...replicaSets, namespace }, action.replicaSet);
        return this.#tell(deployment, action.event);
      case 'update-replica-set':
        await this.#api.update({ ...replicaSets, namespace, name: action.replicaSet.metadata.name ?? '' }, action.replicaSet);
        return action.event === undefined ? undefined : this.#tell(deployment, action.event);
      case 'delete-replica-set':
        await this.#api.delete({ ...replicaSets, namespace, name: action.name }).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        });
    }
  }

  #tell(object: Deployment, message: string): Promise<void> {
    return this.#events.record({ object, type: 'Normal', reason: 'ScalingReplicaSet', message });
  }
}
