/**
 * The relevant VirtualMachineInstances of the cluster. Unlike other kinds, this one may be missing (a cluster without KubeVirt's instances) or
 * forbidden (an RBAC rule of an earlier version): the controller works nevertheless, and retries at least every half minute.
 */
import {
  type ApiResource,
  type CacheSubscription,
  isOwnedByAnother,
  type KubernetesObject,
  keyOf,
  readField,
  type SharedCaches,
} from '@vmdhcp/kube-runtime';

import { hasSameInterfaces, hasUnseenInstance, readRunningInstance } from '../virtual-machine/running-instance.js';
import type { MachineKnowledge } from '../virtual-machine/wanted-interfaces.js';

/** Whether the list of running instances is known. */
export type InstancesState =
  /** Not decided by any answer yet. */
  | 'unknown'
  | 'listed'
  /** HTTP 404: the API server does not have the kind, so no instance runs, unless the status of a virtual machine reports one. */
  | 'kind-missing'
  /** HTTP 403: virtual machines may run, and the controller cannot know which. */
  | 'forbidden';

export interface InstanceSourceSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  readonly resource: ApiResource;
  /** The relevant part of this instance has changed. */
  readonly onChange: (key: string) => void;
  /** The state of all of them has changed. */
  readonly onState: (state: InstancesState) => void;
  /** A list or watch failed for a reason that is not in the state, and is retried. */
  readonly onError: (error: unknown) => void;
}

/** An instance from the API server; `object` is undefined if there is none. */
export interface NewestInstance {
  readonly object: KubernetesObject | undefined;
}

export class InstanceSource {
  readonly #settings: InstanceSourceSettings;
  readonly #cache: CacheSubscription;
  /** The state at the last call of `onChange`. */
  readonly #reported = new Map<string, KubernetesObject>();
  #state: InstancesState = 'unknown';
  #onAnswer: (() => void)[] = [];

  constructor(settings: InstanceSourceSettings) {
    this.#settings = settings;
    this.#cache = settings.caches.subscribe(settings.resource, {
      onChange: (key) => this.#onSeen(key),
      onListed: () => this.#enter('listed'),
      onWatchEvent: () => {
        // If a watch delivers something, it is permitted.
        if (this.#state === 'forbidden') this.#enter('listed');
      },
      onError: (error) => this.#onError(error),
    });
  }

  get state(): InstancesState {
    return this.#state;
  }

  /** True once the running virtual machines are known, or known to be unavailable. */
  get synced(): boolean {
    return this.#state !== 'unknown';
  }

  /** The running instance of a virtual machine. @param newest - the instance of its name from the API server; absent for the last seen one. */
  of(virtualMachine: KubernetesObject, newest?: NewestInstance): MachineKnowledge['instance'] {
    if (this.#state === 'unknown' || this.#state === 'forbidden') return 'unreadable';
    const stored = newest === undefined ? this.#cache.get(keyOf(virtualMachine)) : newest.object;
    const instance =
      stored !== undefined && isOwnedByAnother(stored, { kind: 'VirtualMachine', uid: virtualMachine.metadata.uid })
        ? undefined
        : stored;
    const running = readRunningInstance(virtualMachine, instance);
    // The watch of virtual machines may be ahead of that of their instances.
    return running ?? (hasUnseenInstance(virtualMachine, instance) ? 'unseen' : undefined);
  }

  /** True if no instance of that name exists; false also if that cannot be known. */
  isAbsent(key: string): boolean {
    if (this.#state === 'unknown' || this.#state === 'forbidden') return false;
    return this.#cache.get(key) === undefined;
  }

  start(): void {
    this.#cache.start();
  }

  /** Resolves when the knowledge is at least as new as this call, or unavailable. */
  async refresh(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onAnswer.push(resolve);
      // An error is an answer too; a list answers by `onListed`.
      void this.#cache.refresh();
    });
  }

  stop(): void {
    this.#cache.stop();
  }

  #onSeen(key: string): void {
    const before = this.#reported.get(key);
    const now = this.#cache.get(key);
    if (now === undefined) this.#reported.delete(key);
    else this.#reported.set(key, now);
    if (before === undefined ? now === undefined : now !== undefined && hasSameInterfaces(before, now)) return;
    this.#settings.onChange(key);
  }

  #onError(error: unknown): void {
    const status = readField(error, 'status');
    if (status === 403) this.#enter('forbidden');
    // Keep the last list: an API server that starts may lack the kind for a moment.
    else if (status === 404) this.#enter(this.#state === 'unknown' ? 'kind-missing' : this.#state);
    else this.#settings.onError(error);
  }

  #enter(state: InstancesState): void {
    const isOther = state !== this.#state;
    this.#state = state;
    if (isOther) this.#settings.onState(state);
    const waiting = this.#onAnswer;
    this.#onAnswer = [];
    for (const resolve of waiting) resolve();
  }
}
