/**
 * What becomes of Nodes that are not ready and of their Pods: taints, Pods that count as not ready, evictions; and the Pods of Nodes
 * that are gone for good.
 */
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
  /** After so long the Pods of a Node that was deleted are deleted too. */
  readonly orphanedPodsMs: number;
}

export class NodeLifecycle {
  readonly #options: NodeLifecycleOptions;
  readonly #api: ApiClient;
  readonly #queue: WorkQueue;
  readonly #unwatch: () => void;
  /** When Nodes were first seen as not ready, or gone. */
  readonly #lostSinceMs = new Map<string, number>();

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
    const isLost = taintsFor(node, node.spec?.taints ?? []).some(
      ({ effect, key }) => effect === 'NoExecute' && key.startsWith('node.kubernetes.io/'),
    );
    if (!isLost) this.#lostSinceMs.delete(name);
    else await this.#abandon(name);
  }

  async #abandon(name: string): Promise<void> {
    const since = this.#lostSinceMs.get(name) ?? Date.now();
    this.#lostSinceMs.set(name, since);
    const node = this.#api.get({ ...nodes, name }) as Node | undefined;
    if (node === undefined) return;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const pod of this.#podsOf(name)) {
      await this.#markUnready(pod);
      const patience = patienceOf(pod, node);
      const leftMs = patience === undefined ? Number.POSITIVE_INFINITY : since + patience * 1000 - Date.now();
      if (leftMs <= 0 && !isDeleting(pod)) await this.#delete(pod, {});
      else if (!isDeleting(pod)) nextMs = Math.min(nextMs, leftMs);
    }
    if (Number.isFinite(nextMs)) this.#queue.addAfter(name, Math.max(10, nextMs));
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

const withTaints = (spec: Node['spec'], taints: NonNullable<Node['spec']>['taints'] & object): NonNullable<Node['spec']> => {
  const { taints: _before, ...rest } = spec ?? {};
  return taints.length === 0 ? rest : { ...rest, taints };
};
