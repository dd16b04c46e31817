/**
 * The VirtualMachineInstances of the cluster, as far as they count. Unlike the kinds that the controller works on, this one may
 * be missing (a cluster without KubeVirt's instances) or forbidden (an RBAC rule of an earlier version): the controller works
 * all the same, and looks again, at most half a minute later each time.
 */
import {
  type BackOffSettings,
  type Clock,
  type KubernetesObject,
  keyOf,
  projectedPort,
  Reflector,
  type ResourcePort,
  readField,
} from '@vmdhcp/kube-runtime';

import {
  hasSameInterfaces,
  hasUnseenInstance,
  isOfAnother,
  projectInstance,
  readRunningInstance,
} from '../virtual-machine/running-instance.js';
import type { MachineKnowledge } from '../virtual-machine/wanted-interfaces.js';

export type InstancesState =
  /** There was no usable answer: nothing may be decided yet. */
  | 'unknown'
  | 'listed'
  /** HTTP 404: the API server does not have the kind, so no virtual machine runs, unless one reports that it has an instance. */
  | 'kind-missing'
  /** HTTP 403: virtual machines may run, and it is not known which. */
  | 'forbidden';

export interface InstanceSourceSettings {
  /** Undefined: there are none. */
  readonly port: ResourcePort<KubernetesObject> | undefined;
  readonly clock: Clock;
  readonly backOff: BackOffSettings;
  /** What counts of this instance is another than before. */
  readonly onChange: (key: string) => void;
  /** What the controller can tell of all of them is another than before. */
  readonly onState: (state: InstancesState) => void;
  /** A list or watch failed for another reason than the state has, and is retried. */
  readonly onError: (error: unknown) => void;
}

export class InstanceSource {
  readonly #settings: InstanceSourceSettings;
  readonly #reflector: Reflector<KubernetesObject> | undefined;
  /** As they were last reported. */
  readonly #reported = new Map<string, KubernetesObject>();
  #state: InstancesState;
  #wasListed = false;
  #onAnswer: (() => void)[] = [];

  constructor(settings: InstanceSourceSettings) {
    const { port, clock, backOff } = settings;
    this.#settings = settings;
    this.#state = port === undefined ? 'kind-missing' : 'unknown';
    if (port === undefined) return;
    const projected = projectedPort(port, projectInstance);
    this.#reflector = new Reflector({
      port: {
        list: projected.list,
        watch: (resourceVersion, { onEvent, onEnd }) =>
          projected.watch(resourceVersion, {
            onEvent: (event) => {
              onEvent(event);
              // A watch that brings something is allowed.
              if (this.#state === 'forbidden') this.#enter('listed');
            },
            onEnd,
          }),
      },
      clock,
      backOff,
      onChange: (key) => this.#onSeen(key),
      onListed: () => this.#enter('listed'),
      onError: (error) => this.#onError(error),
    });
  }

  get state(): InstancesState {
    return this.#state;
  }

  /** True once it is known which virtual machines run, or that this cannot be known. */
  get synced(): boolean {
    return this.#state !== 'unknown';
  }

  /** The instance of a virtual machine. */
  of(virtualMachine: KubernetesObject): MachineKnowledge['instance'] {
    if (this.#state === 'unknown' || this.#state === 'forbidden') return 'unreadable';
    const stored = this.#reflector?.get(keyOf(virtualMachine));
    const instance = stored !== undefined && isOfAnother(virtualMachine, stored) ? undefined : stored;
    const running = readRunningInstance(virtualMachine, instance);
    // The watch of virtual machines may be ahead of that of their instances.
    return running ?? (hasUnseenInstance(virtualMachine, instance) ? 'unseen' : undefined);
  }

  start(): void {
    this.#reflector?.start();
  }

  /** Resolves when what is known is at least as new as this call, or cannot be known. */
  async refresh(): Promise<void> {
    const reflector = this.#reflector;
    if (reflector === undefined) return;
    await new Promise<void>((resolve) => {
      this.#onAnswer.push(resolve);
      reflector.relist();
    });
  }

  stop(): void {
    this.#reflector?.stop();
  }

  #onSeen(key: string): void {
    const before = this.#reported.get(key);
    const now = this.#reflector?.get(key);
    if (now === undefined) this.#reported.delete(key);
    else this.#reported.set(key, now);
    if (before === undefined ? now === undefined : now !== undefined && hasSameInterfaces(before, now)) return;
    this.#settings.onChange(key);
  }

  #onError(error: unknown): void {
    const status = readField(error, 'status');
    if (status === 403) this.#enter('forbidden');
    // What was listed once stays known: a server that begins may not have the kind for a moment.
    else if (status === 404 && !this.#wasListed && this.#state !== 'forbidden') this.#enter('kind-missing');
    else if (status === 404) this.#answer();
    else this.#settings.onError(error);
  }

  #enter(state: InstancesState): void {
    const isOther = state !== this.#state;
    this.#state = state;
    this.#wasListed ||= state === 'listed';
    if (isOther) this.#settings.onState(state);
    this.#answer();
  }

  #answer(): void {
    const waiting = this.#onAnswer;
    this.#onAnswer = [];
    for (const resolve of waiting) resolve();
  }
}
