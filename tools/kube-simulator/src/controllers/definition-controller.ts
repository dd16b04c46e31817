/** Accepts the names of CustomResourceDefinitions, and deletes all objects of a kind before its definition is deleted. */
import type { WatchEvent } from '../api/api-client.js';
import type { ResourceType } from '../resources/resource-type.js';
import { isMissing } from './api-outcome.js';
import type { ControllerContext } from './controller-context.js';
import { type Definition, type DefinitionStatus, planEstablishing, putCondition } from './plan-establishing.js';
import { updateObject } from './update-object.js';
import { WorkQueue } from './work-queue.js';
import { isDeleting, type KubeObject, toTime } from './workload-kinds.js';

const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';
const nextLookMs = 50;
/** A real server serves a kind some time after its definition was created: a client that does not wait for that should notice. */
const establishingMs = 25;

export class DefinitionController {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  readonly #unwatch: () => void;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue({ handle: (name) => this.#handle(name), onError: context.onError });
    this.#unwatch = context.api.watch(definitions, (event) => this.#observe(event));
  }

  async stop(): Promise<void> {
    this.#unwatch();
    await this.#queue.stop();
  }

  #observe({ type, object }: WatchEvent): void {
    const name = object.metadata.name ?? '';
    if (type === 'ADDED') this.#queue.addAfter(name, establishingMs);
    else if (type === 'MODIFIED') this.#queue.add(name);
    // Its names are free now: another may be waiting for them.
    else for (const other of this.#context.api.list(definitions)) this.#queue.add(other.metadata.name ?? '');
  }

  async #handle(name: string): Promise<void> {
    const definition = this.#context.api.get({ ...definitions, name }) as Definition | undefined;
    if (definition === undefined) return;
    if (isDeleting(definition)) await this.#cleanUp(definition);
    else await this.#establish(name);
  }

  #establish(name: string): Promise<void> {
    return this.#writeStatus(name, (definition) => {
      const all = this.#context.api.list(definitions) as readonly Definition[];
      const others = all.filter(({ metadata }) => metadata.name !== name);
      return planEstablishing(definition, others, new Date());
    });
  }

  async #cleanUp(definition: Definition): Promise<void> {
    const name = definition.metadata.name ?? '';
    if (!definition.metadata.finalizers?.includes(cleanupFinalizer)) return;
    if (await this.#deleteInstances(definition)) return this.#queue.addAfter(name, nextLookMs);
    await this.#terminating(name, { status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' });
    await updateObject<KubeObject>(this.#context.api, { ...definitions, name }, (live) => ({
      ...live,
      metadata: { ...live.metadata, finalizers: (live.metadata.finalizers ?? []).filter((each) => each !== cleanupFinalizer) },
    }));
  }

  /** Whether instances are left: those with finalizers take their time. */
  async #deleteInstances(definition: Definition): Promise<boolean> {
    const type = this.#typeOf(definition);
    if (type === undefined) return false;
    const path = { group: type.group, resource: type.plural };
    const instances = this.#context.api.list(path);
    if (instances.length === 0) return false;
    const message = 'CustomResource deletion is in progress';
    await this.#terminating(definition.metadata.name ?? '', { status: 'True', reason: 'InstanceDeletionInProgress', message });
    for (const { metadata } of instances.filter((instance) => !isDeleting(instance))) {
      const where = metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
      await this.#context.api.delete({ ...path, ...where, name: metadata.name ?? '' }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    }
    return this.#context.api.list(path).length > 0;
  }

  #typeOf({ spec }: Definition): ResourceType | undefined {
    return this.#context.types().find(({ group, plural }) => group === spec.group && plural === spec.names.plural);
  }

  #terminating(
    name: string,
    statement: { readonly status: string; readonly reason: string; readonly message: string },
  ): Promise<void> {
    return this.#writeStatus(name, ({ status }) => {
      const conditions = status?.conditions ?? [];
      if (conditions.some(({ type, reason }) => type === 'Terminating' && reason === statement.reason)) return undefined;
      const lastTransitionTime = toTime(new Date());
      return { ...status, conditions: putCondition(conditions, { type: 'Terminating', lastTransitionTime, ...statement }) };
    });
  }

  #writeStatus(name: string, plan: (definition: Definition) => DefinitionStatus | undefined): Promise<void> {
    return updateObject<Definition>(this.#context.api, { ...definitions, name, subresource: 'status' }, (live) => {
      const status = plan(live);
      return status === undefined ? live : { ...live, status };
    });
  }
}
