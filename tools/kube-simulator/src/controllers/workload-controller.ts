/**
 * The common part of the controllers of workloads. For each workload, it observes the objects that belong to it, plans the changes with a pure
 * function and applies the plan. A `WorkloadKind` holds what differs between the kinds.
 */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { applyActions, RefusedCreate, type WorkloadAction } from './apply-actions.js';
import type { ControllerContext } from './controller-context.js';
import { EventRecorder } from './event-recorder.js';
import { keyOf, parseKey } from './object-key.js';
import { WorkQueue } from './work-queue.js';
import type { KubeObject } from './workload-kinds.js';

/** The next changes for one workload. */
export interface WorkloadPlan {
  /** In order; empty if the workload is as it should be. */
  readonly actions: readonly WorkloadAction[];
  /** Plan again after this many milliseconds, even if nothing has changed. */
  readonly recheckAfterMs?: number;
}

/** Objects whose changes concern workloads. */
export interface WatchedKind {
  readonly kind: { readonly group?: string; readonly resource: string };
  /** `namespace/name` of the workloads that a change concerns. */
  readonly concerns: (event: WatchEvent, api: ApiClient) => readonly string[];
}

export interface WorkloadKind<Workload extends KubeObject, Observed> {
  readonly kind: { readonly group: string; readonly resource: string };
  /** The component in the Events, such as `deployment-controller`. */
  readonly component: string;
  /** Besides the workloads themselves. */
  readonly watches: readonly WatchedKind[];
  /** Returns the objects that belong to the workload; adopts objects that its selector selects. */
  readonly observe: (api: ApiClient, workload: Workload) => Promise<Observed>;
  /** Pure. @param refusal why the last Pod was refused; if set, no Pod is created, and the status may report it. */
  readonly plan: (observed: Observed, now: Date, refusal?: string) => WorkloadPlan;
}

export class WorkloadController<Workload extends KubeObject, Observed> {
  readonly #kind: WorkloadKind<Workload, Observed>;
  readonly #api: ApiClient;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #unwatch: readonly (() => void)[];

  constructor(kind: WorkloadKind<Workload, Observed>, { api, onError }: ControllerContext) {
    this.#kind = kind;
    this.#api = api;
    this.#events = new EventRecorder(() => api, kind.component);
    this.#queue = new WorkQueue({ handle: (key) => this.#handle(key), onError });
    const own: WatchedKind = { kind: kind.kind, concerns: ({ object }) => [keyOf(object)] };
    this.#unwatch = [own, ...kind.watches].map((watched) =>
      api.watch(watched.kind, (event) => {
        for (const key of watched.concerns(event, api)) this.#queue.add(key);
      }),
    );
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch) unwatch();
    await this.#queue.stop();
  }

  async #handle(key: string): Promise<void> {
    const workload = this.#api.get({ ...this.#kind.kind, ...parseKey(key) }) as Workload | undefined;
    if (workload === undefined) return;
    const observed = await this.#kind.observe(this.#api, workload);
    const plan = this.#kind.plan(observed, new Date());
    try {
      await this.#apply(workload, plan);
    } catch (error) {
      if (!(error instanceof RefusedCreate)) throw error;
      await this.#apply(workload, this.#kind.plan(observed, new Date(), error.message));
      // The queue tries again.
      throw error.cause;
    }
    if (plan.recheckAfterMs !== undefined) this.#queue.addAfter(key, plan.recheckAfterMs);
  }

  #apply(workload: Workload, { actions }: WorkloadPlan): Promise<void> {
    return applyActions(actions, { api: this.#api, events: this.#events, kind: this.#kind.kind, workload });
  }
}
