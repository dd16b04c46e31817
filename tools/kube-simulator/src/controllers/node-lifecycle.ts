/** Handles Nodes that are not ready and their Pods (taints, Pods that count as not ready, evictions), and the Pods of deleted Nodes. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { isMissing } from './api-outcome.js';
import type { ControllerContext } from './controller-context.js';
import { patienceOf, taintsFor } from './node-taints.js';
import { updateObject } from './update-object.js';
import { WorkQueue } from './work-queue.js';
import { isDeleting, isFinished, type Node, type Pod, toTime } from './workload-kinds.js';

const nodes = { resource: 'nodes' };
const podKind = { resource: 'pods' };

export interface NodeLifecycleOptions extends ControllerContext {
  /** The Pods of a deleted Node are deleted after this time. */
  readonly orphanedPodsMs: number;
}

export class NodeLifecycle {
  readonly #options: NodeLifecycleOptions;
  readonly #api: ApiClient;
  readonly #queue: WorkQueue;
  readonly #unwatch: () => void;
  /** Since when Nodes have had a taint NoExecute. */
  readonly #tabooSinceMs = new Map<string, number>();

  constructor(options: NodeLifecycleOptions) {
    this.#options = options;
    this.#api = options.api;
    this.#queue = new WorkQueue({ handle: (name) => this.#handle(name), onError: options.onError });
    this.#unwatch = options.api.watch(nodes, (event) => this.#observe(event));
  }

  async stop(): Promise<void> {
    this.#unwatch();
    await this.#queue.stop();
  }

  #observe({ type, object }: WatchEvent): void {
    const name = object.metadata.name ?? '';
    if (type === 'DELETED') this.#queue.addAfter(name, this.#options.orphanedPodsMs);
    else this.#queue.add(name);
  }

  async #handle(name: string): Promise<void> {
    const node = this.#api.get({ ...nodes, name }) as Node | undefined;
    if (node === undefined) return this.#deleteOrphans(name);
    await updateObject<Node>(this.#api, { ...nodes, name }, (live) => {
      const before = live.spec?.taints ?? [];
      const taints = taintsFor(live, before);
      return taints === before ? live : { ...live, spec: withTaints(live.spec, taints) };
    });
    await this.#evict(name);
  }

  /** Pods leave a Node with a taint NoExecute when their toleration ends. On a Node that is not ready, Pods count as not ready. */
  async #evict(name: string): Promise<void> {
    const node = this.#api.get({ ...nodes, name }) as Node | undefined;
    if (node === undefined || !hasNoExecuteTaint(node)) {
      this.#tabooSinceMs.delete(name);
      return;
    }
    const since = this.#tabooSinceMs.get(name) ?? Date.now();
    this.#tabooSinceMs.set(name, since);
    const leftMs: number[] = [];
    for (const pod of this.#podsOf(name)) {
      if (!isReady(node)) await this.#markUnready(pod);
      const patience = patienceOf(pod, node);
      if (patience === undefined || isDeleting(pod)) continue;
      const left = since + patience * 1000 - Date.now();
      if (left <= 0) await this.#delete(pod, {});
      else leftMs.push(left);
    }
    if (leftMs.length > 0) this.#queue.addAfter(name, Math.max(10, Math.min(...leftMs)));
  }

  #podsOf(nodeName: string): readonly Pod[] {
    return this.#api.list(podKind, { fieldSelector: `spec.nodeName=${nodeName}` }) as readonly Pod[];
  }

  #markUnready(pod: Pod): Promise<void> {
    const { namespace = '', name = '' } = pod.metadata;
    return updateObject<Pod>(this.#api, { ...podKind, namespace, name, subresource: 'status' }, (live) => {
      const isReady = live.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
      if (!isReady || isFinished(live)) return live;
      const conditions = live.status?.conditions?.map((condition) =>
        condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: toTime(new Date()) } : condition,
      );
      return { ...live, status: { ...live.status, ...(conditions === undefined ? {} : { conditions }) } };
    });
  }

  async #deleteOrphans(nodeName: string): Promise<void> {
    for (const pod of this.#podsOf(nodeName)) await this.#delete(pod, { gracePeriodSeconds: 0 });
  }

  async #delete(pod: Pod, options: Parameters<ApiClient['delete']>[1]): Promise<void> {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    try {
      await this.#api.delete({ ...podKind, namespace, name }, { ...options, preconditions: { uid } });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

const hasNoExecuteTaint = (node: Node): boolean => node.spec?.taints?.some(({ effect }) => effect === 'NoExecute') ?? false;

const isReady = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

const withTaints = (spec: Node['spec'], taints: NonNullable<Node['spec']>['taints'] & object): NonNullable<Node['spec']> => {
  const { taints: _before, ...rest } = spec ?? {};
  return taints.length === 0 ? rest : { ...rest, taints };
};
