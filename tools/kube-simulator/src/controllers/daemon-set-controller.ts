/** Keeps one Pod of each DaemonSet on every Node that takes it. */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { isMissing } from './api-outcome.js';
import { claim } from './claim.js';
import type { ControllerContext } from './controller-context.js';
import { EventRecorder } from './event-recorder.js';
import { keyOf, parseKey } from './object-key.js';
import { type DaemonPlan, planDaemons } from './plan-daemons.js';
import { hashTemplate } from './template-hash.js';
import { WorkQueue } from './work-queue.js';
import { controlledBy, controllerOf, type DaemonSet, type KubeObject, type Node, type Pod } from './workload-kinds.js';

const daemonSets = { group: 'apps', resource: 'daemonsets' };
const revisions = { group: 'apps', resource: 'controllerrevisions' };
const podKind = { resource: 'pods' };

export class DaemonSetController {
  readonly #api: ApiClient;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];

  constructor({ api, onError }: ControllerContext) {
    this.#api = api;
    this.#events = new EventRecorder(() => api, 'daemonset-controller');
    this.#queue = new WorkQueue({ handle: (key) => this.#handle(key), onError });
    this.#unwatch = [
      api.watch(daemonSets, ({ object }) => this.#queue.add(keyOf(object))),
      api.watch(podKind, (event) => this.#addOwner(event)),
      api.watch({ resource: 'nodes' }, () => this.#addAll()),
    ];
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await this.#queue.stop();
  }

  #addOwner({ object }: WatchEvent): void {
    const owner = controllerOf(object as KubeObject);
    if (owner?.kind === 'DaemonSet') this.#queue.add(`${object.metadata.namespace ?? ''}/${owner.name}`);
  }

  #addAll(): void {
    for (const daemonSet of this.#api.list(daemonSets)) this.#queue.add(keyOf(daemonSet));
  }

  async #handle(key: string): Promise<void> {
    const daemonSet = this.#api.get({ ...daemonSets, ...parseKey(key) }) as DaemonSet | undefined;
    if (daemonSet === undefined) return;
    const hash = hashTemplate(daemonSet.spec.template);
    await this.#ensureRevision(daemonSet, hash);
    const pods = await claim<Pod>(this.#api, { owner: daemonSet, selector: daemonSet.spec.selector, kind: podKind });
    const nodes = this.#api.list({ resource: 'nodes' }) as readonly Node[];
    await this.#apply(daemonSet, planDaemons({ daemonSet, pods, nodes, hash, now: new Date() }));
  }

  async #apply(object: DaemonSet, plan: DaemonPlan): Promise<void> {
    const { namespace = '' } = object.metadata;
    for (const pod of plan.create) {
      const created = await this.#api.create({ ...podKind, namespace }, pod);
      const message = `Created pod: ${created.metadata.name}`;
      await this.#events.record({ object, type: 'Normal', reason: 'SuccessfulCreate', message });
    }
    for (const name of plan.remove) {
      await this.#api.delete({ ...podKind, namespace, name }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      await this.#events.record({ object, type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
    }
    // Pods that were just created will be counted when they are seen.
    if (plan.status === undefined || plan.create.length > 0) return;
    await this.#api.update(
      { ...daemonSets, ...parseKey(keyOf(object)), subresource: 'status' },
      { ...object, status: plan.status },
    );
  }

  /** The templates that the DaemonSet ever had are kept, as numbered revisions. */
  async #ensureRevision(daemonSet: DaemonSet, hash: string): Promise<void> {
    const { namespace = '', uid, annotations = {} } = daemonSet.metadata;
    const name = `${daemonSet.metadata.name}-${hash}`;
    if (this.#api.get({ ...revisions, namespace, name }) !== undefined) return;
    const own = this.#api.list({ ...revisions, namespace }).filter((each) => controllerOf(each as KubeObject)?.uid === uid);
    const { template } = daemonSet.spec;
    const generation = annotations['deprecated.daemonset.template.generation'];
    await this.#api.create(
      { ...revisions, namespace },
      {
        metadata: {
          name,
          labels: { ...template.metadata?.labels, 'controller-revision-hash': hash },
          ...(generation === undefined ? {} : { annotations: { 'deprecated.daemonset.template.generation': generation } }),
          ownerReferences: [controlledBy(daemonSet)],
        },
        data: { spec: { template: { ...template, $patch: 'replace' } } },
        revision: 1 + Math.max(0, ...own.map((each) => Number(each['revision'] ?? 0))),
      },
    );
  }
}
