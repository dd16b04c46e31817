/** Keeps as many Pods as each ReplicaSet wants. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { ApiError } from '../api-error.js';
import { isMissing } from './api-outcome.js';
import { claim } from './claim.js';
import type { ControllerContext } from './controller-context.js';
import { EventRecorder } from './event-recorder.js';
import { keyOf, parseKey } from './object-key.js';
import { planReplicas } from './plan-replicas.js';
import { withReplicaFailure } from './replica-failure.js';
import { WorkQueue } from './work-queue.js';
import { controllerOf, isReady, type KubeObject, type Pod, type ReplicaSet, type ReplicaSetStatus } from './workload-kinds.js';

const replicaSets = { group: 'apps', resource: 'replicasets' };
const podKind = { resource: 'pods' };

export class ReplicaSetController {
  readonly #api: ApiClient;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];

  constructor({ api, onError }: ControllerContext) {
    this.#api = api;
    this.#events = new EventRecorder(() => api, 'replicaset-controller');
    this.#queue = new WorkQueue({ handle: (key) => this.#handle(key), onError });
    this.#unwatch = [
      api.watch(replicaSets, ({ object }) => this.#queue.add(keyOf(object))),
      api.watch(podKind, (event) => this.#addOwner(event)),
    ];
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await this.#queue.stop();
  }

  #addOwner({ object, oldObject }: WatchEvent): void {
    const { namespace = '' } = object.metadata;
    for (const pod of [object, oldObject]) {
      const owner = pod === undefined ? undefined : controllerOf(pod as KubeObject);
      if (owner?.kind === 'ReplicaSet') this.#queue.add(`${namespace}/${owner.name}`);
    }
    if (controllerOf(object as KubeObject) !== undefined || object.metadata['labels'] === undefined) return;
    for (const replicaSet of this.#api.list({ ...replicaSets, namespace })) this.#queue.add(keyOf(replicaSet));
  }

  async #handle(key: string): Promise<void> {
    const replicaSet = this.#api.get({ ...replicaSets, ...parseKey(key) }) as ReplicaSet | undefined;
    if (replicaSet === undefined) return;
    const pods = await claim<Pod>(this.#api, { owner: replicaSet, selector: replicaSet.spec.selector, kind: podKind });
    const plan = planReplicas(replicaSet, pods, new Date());
    const failure = await this.#createAll(replicaSet, plan.create);
    for (const name of plan.remove) await this.#remove(replicaSet, name);
    await this.#reportIfNew(replicaSet, plan.status, failure && messageOf(failure.error));
    if (failure !== undefined) throw failure.error;
    const { minReadySeconds = 0 } = replicaSet.spec;
    if (minReadySeconds > 0 && pods.some(isReady)) this.#queue.addAfter(key, minReadySeconds * 1000);
  }

  async #reportIfNew(replicaSet: ReplicaSet, planned: ReplicaSetStatus | undefined, failure: string | undefined): Promise<void> {
    const before = planned ?? replicaSet.status ?? {};
    const status = withReplicaFailure(before, failure, new Date());
    if (planned !== undefined || status !== before) await this.#report(replicaSet, status);
  }

  /** What went wrong; nothing more is tried after that. */
  async #createAll(replicaSet: ReplicaSet, pods: readonly Pod[]): Promise<{ readonly error: unknown } | undefined> {
    try {
      for (const pod of pods) await this.#create(replicaSet, pod);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async #create(object: ReplicaSet, pod: Pod): Promise<void> {
    try {
      const created = await this.#api.create({ ...podKind, namespace: object.metadata.namespace ?? '' }, pod);
      const message = `Created pod: ${created.metadata.name}`;
      await this.#events.record({ object, type: 'Normal', reason: 'SuccessfulCreate', message });
    } catch (error) {
      const message = `Error creating: ${messageOf(error)}`;
      await this.#events.record({ object, type: 'Warning', reason: 'FailedCreate', message });
      throw error;
    }
  }

  async #remove(object: ReplicaSet, name: string): Promise<void> {
    try {
      await this.#api.delete({ ...podKind, namespace: object.metadata.namespace ?? '', name });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    await this.#events.record({ object, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
  }

  async #report(replicaSet: ReplicaSet, status: ReplicaSetStatus): Promise<void> {
    await this.#api.update({ ...replicaSets, ...parseKey(keyOf(replicaSet)), subresource: 'status' }, { ...replicaSet, status });
  }
}

function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.failure.message : String(error);
}
