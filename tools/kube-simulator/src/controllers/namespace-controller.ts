/** Creates the ServiceAccount `default` in every namespace, and empties namespaces that are being deleted. */
import type { WatchEvent } from '../api/api-client.js';
import { ApiError } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import type { ResourceType } from '../resources/resource-type.js';
import { isConflict, isMissing } from './api-outcome.js';
import type { ControllerContext } from './controller-context.js';
import { type NamespaceContent, namespaceConditions, type Remains } from './namespace-conditions.js';
import { updateObject } from './update-object.js';
import { WorkQueue } from './work-queue.js';
import { type Condition, isDeleting, type KubeObject } from './workload-kinds.js';

interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}

const namespaces = { resource: 'namespaces' };
const nextLookMs = 100;
/** A namespace that is being deleted is not empty at once. */
const emptyingMs = 50;

export interface NamespaceControllerOptions extends ControllerContext {
  /** PEM of the API server's authority, for the ConfigMap that Pods find it in; undefined over plain HTTP. */
  readonly authority: string | undefined;
}

export class NamespaceController {
  readonly #options: NamespaceControllerOptions;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];

  constructor(options: NamespaceControllerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ handle: (name) => this.#handle(name), onError: options.onError });
    const own = ({ type, object }: WatchEvent) => {
      const name = object.metadata.name ?? '';
      if (isDeleting(object)) this.#queue.addAfter(name, emptyingMs);
      else if (type !== 'DELETED') this.#queue.add(name);
    };
    const inside = ({ type, object }: WatchEvent) => {
      const { namespace = '' } = object.metadata;
      if (type === 'DELETED' && !this.#isBeingDeleted(namespace)) this.#queue.add(namespace);
    };
    this.#unwatch = [
      options.api.watch(namespaces, own),
      options.api.watch({ resource: 'serviceaccounts' }, inside),
      options.api.watch({ resource: 'configmaps' }, inside),
    ];
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await this.#queue.stop();
  }

  #isBeingDeleted(name: string): boolean {
    const namespace = this.#options.api.get({ ...namespaces, name });
    return namespace !== undefined && isDeleting(namespace);
  }

  async #handle(name: string): Promise<void> {
    const namespace = this.#options.api.get({ ...namespaces, name }) as Namespace | undefined;
    if (namespace === undefined) return;
    if (isDeleting(namespace)) await this.#empty(namespace, name);
    else await this.#furnish(name);
  }

  async #furnish(namespace: string): Promise<void> {
    await this.#ensure('serviceaccounts', namespace, { metadata: { name: 'default' } });
    const { authority } = this.#options;
    if (authority === undefined) return;
    await this.#ensure('configmaps', namespace, { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': authority } });
  }

  async #ensure(
    resource: string,
    namespace: string,
    object: JsonObject & { readonly metadata: { readonly name: string } },
  ): Promise<void> {
    if (this.#options.api.get({ resource, namespace, name: object.metadata.name }) !== undefined) return;
    try {
      await this.#options.api.create({ resource, namespace }, object);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  async #empty(namespace: Namespace, name: string): Promise<void> {
    if (!namespace.spec?.finalizers?.includes('kubernetes')) return;
    const failures: string[] = [];
    for (const type of this.#contentTypes()) failures.push(...(await this.#deleteAll(type, name)));
    const remains = this.#contentTypes().flatMap((type) => this.#remains(type, name) ?? []);
    if (remains.length > 0) {
      await this.#explain(name, { remains, failures, now: new Date() });
      this.#queue.addAfter(name, nextLookMs);
      return;
    }
    await updateObject<Namespace>(this.#options.api, { ...namespaces, name, subresource: 'finalize' }, (live) => ({
      ...live,
      spec: { ...live.spec, finalizers: (live.spec?.finalizers ?? []).filter((finalizer) => finalizer !== 'kubernetes') },
    }));
  }

  /** One type for each collection of namespaced objects. */
  #contentTypes(): readonly ResourceType[] {
    const stored = this.#options.types().filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete'));
    return [...new Map(stored.toReversed().map((type) => [type.storage, type])).values()].toReversed();
  }

  /** Returns why not, for each kind that admission or a failure keeps: the others are deleted. */
  async #deleteAll({ group, plural }: ResourceType, namespace: string): Promise<string[]> {
    const path = { group, resource: plural, namespace };
    for (const object of this.#options.api.list(path)) {
      if (isDeleting(object)) continue;
      try {
        await this.#options.api.delete({ ...path, name: object.metadata.name ?? '' }, { propagationPolicy: 'Background' });
      } catch (error) {
        if (error instanceof ApiError && !isMissing(error)) return [error.message];
        if (!isMissing(error)) throw error;
      }
    }
    return [];
  }

  #remains({ group, plural }: ResourceType, namespace: string): Remains | undefined {
    const objects = this.#options.api.list({ group, resource: plural, namespace }) as readonly KubeObject[];
    if (objects.length === 0) return undefined;
    return { group, resource: plural, finalizers: objects.map(({ metadata }) => metadata.finalizers ?? []) };
  }

  #explain(name: string, content: NamespaceContent): Promise<void> {
    return updateObject<Namespace>(this.#options.api, { ...namespaces, name, subresource: 'status' }, (live) => {
      const conditions = namespaceConditions(live.status?.conditions ?? [], content);
      return { ...live, status: { ...live.status, conditions } };
    });
  }
}
