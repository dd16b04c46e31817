/** Assigns a Node to every Pod that has none. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import type { ControllerContext } from './controller-context.js';
import { EventRecorder } from './event-recorder.js';
import { keyOf, parseKey } from './object-key.js';
import { pickNode } from './pick-node.js';
import { updateObject } from './update-object.js';
import { WorkQueue } from './work-queue.js';
import { type Condition, isDeleting, isFinished, type Node, type Pod, toTime } from './workload-kinds.js';

const podKind = { resource: 'pods' };

export class Scheduler {
  readonly #api: ApiClient;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];
  /** Keys of Pods that no Node can run. */
  readonly #waiting = new Set<string>();

  constructor({ api, onError }: ControllerContext) {
    this.#api = api;
    this.#events = new EventRecorder(() => api, 'default-scheduler');
    this.#queue = new WorkQueue({ handle: (key) => this.#handle(key), onError });
    this.#unwatch = [
      api.watch(podKind, (event) => this.#observe(event)),
      api.watch({ resource: 'nodes' }, () => this.#retryAll()),
    ];
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await this.#queue.stop();
  }

  #observe({ type, object }: WatchEvent): void {
    const pod = object as Pod;
    // A Pod that is deleted makes room for others.
    if (type === 'DELETED') this.#retryAll();
    else if (isWaiting(pod) && !this.#waiting.has(keyOf(pod))) this.#queue.add(keyOf(pod));
  }

  #retryAll(): void {
    for (const key of this.#waiting) this.#queue.add(key);
    this.#waiting.clear();
  }

  async #handle(key: string): Promise<void> {
    const pod = this.#api.get({ ...podKind, ...parseKey(key) }) as Pod | undefined;
    if (pod === undefined || !isWaiting(pod)) return;
    const nodes = this.#api.list({ resource: 'nodes' }) as readonly Node[];
    const all = this.#api.list(podKind) as readonly Pod[];
    const pods = all.filter((other) => other.spec.nodeName !== undefined && !isFinished(other));
    const choice = pickNode(pod, { nodes, pods });
    if (choice.kind === 'node') await this.#bind(pod, choice.name);
    else await this.#refuse(pod, choice.message);
  }

  async #bind(object: Pod, nodeName: string): Promise<void> {
    const { namespace = '', name = '' } = object.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
    await this.#api.update({ ...podKind, namespace, name, subresource: 'binding' }, binding);
    const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    await this.#events.record({ object, type: 'Normal', reason: 'Scheduled', message });
  }

  async #refuse(object: Pod, message: string): Promise<void> {
    this.#waiting.add(keyOf(object));
    const path = { ...podKind, ...parseKey(keyOf(object)), subresource: 'status' };
    await updateObject<Pod>(this.#api, path, (live) => withUnschedulable(live, message));
    await this.#events.record({ object, type: 'Warning', reason: 'FailedScheduling', message });
  }
}

const isWaiting = (pod: Pod): boolean =>
  !pod.spec.nodeName &&
  !isDeleting(pod) &&
  !isFinished(pod) &&
  (pod.spec['schedulerName'] ?? 'default-scheduler') === 'default-scheduler';

const withUnschedulable = (pod: Pod, message: string): Pod => {
  const conditions = pod.status?.conditions ?? [];
  const current = conditions.find(({ type }) => type === 'PodScheduled');
  if (current?.message === message) return pod;
  const next: Condition = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: current?.status === 'False' ? (current.lastTransitionTime ?? null) : toTime(new Date()),
    reason: 'Unschedulable',
    message,
  };
  return { ...pod, status: { ...pod.status, conditions: [...conditions.filter(({ type }) => type !== 'PodScheduled'), next] } };
};
