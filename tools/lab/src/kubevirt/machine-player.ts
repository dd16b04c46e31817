/** Plays the virtual machines of a simulated cluster: does what KubeVirt's controllers and the machines do. */
import { isDeepStrictEqual } from 'node:util';
import { readList } from '@vmdhcp/kube-runtime';
import { ApiError, type ApiObject, type KubeSimulator } from '@vmdhcp/kube-simulator';
import { INSTANCES, isBeingDeleted, keyOf, MACHINES, placeOf } from './kubevirt-objects.js';
import { INSTANCE_FINALIZER, type InstanceWorld, instanceSpec, planInstance, withLinksOf } from './plan-instance.js';
import { planMachine, statusOf } from './plan-machine.js';

/** Keeps a machine that is deleted until its instance is gone. */
const MACHINE_FINALIZER = 'kubevirt.io/virtualMachineControllerFinalize';
/** The delay of a retry after the API server refused a write. */
const RETRY_MS = 100;

export interface PlayerSettings {
  readonly simulator: KubeSimulator;
  readonly worldOf: (key: string) => InstanceWorld;
  /** True: the controller does not see the machine for now. */
  readonly isIgnored: (key: string) => boolean;
  /** True: after a start that failed it waits before it tries again. */
  readonly backsOff: (key: string) => boolean;
  readonly onError: (error: unknown) => void;
}

export class MachinePlayer {
  readonly #settings: PlayerSettings;
  readonly #waiting = new Set<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #unwatch: readonly (() => void)[] = [];
  #working: Promise<void> | undefined;
  #isStopped = false;

  constructor(settings: PlayerSettings) {
    this.#settings = settings;
    this.watch();
  }

  /** Watches all machines; call it again after the simulator was restarted. */
  watch(): void {
    const { client } = this.#settings.simulator;
    this.#end();
    this.#unwatch = [MACHINES, INSTANCES].map((kind) => client.watch(kind, ({ object }) => this.look(keyOf(object))));
  }

  /** Schedules a check of the machine. */
  look(key: string): void {
    if (this.#isStopped) return;
    this.#waiting.add(key);
    this.#working ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#work());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#end();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#working;
  }

  #end(): void {
    for (const unwatch of this.#unwatch) unwatch();
  }

  async #work(): Promise<void> {
    for (let [key] = this.#waiting; key !== undefined; [key] = this.#waiting) {
      this.#waiting.delete(key);
      await this.#handle(key).catch((error: unknown) => this.#retry(key, error));
    }
    this.#working = undefined;
  }

  /** Another client was faster, or a webhook refused: both pass. */
  #retry(key: string, error: unknown): void {
    if (!(error instanceof ApiError) || error.failure.code === 422) this.#settings.onError(error);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.look(key);
    }, RETRY_MS);
    this.#timers.add(timer);
  }

  async #handle(key: string): Promise<void> {
    if (this.#settings.isIgnored(key)) return;
    await this.#playInstance(key);
    const machine = this.#read(MACHINES, key);
    if (machine === undefined) return;
    await this.#playMachine(machine, key);
    await this.#playLinks(machine, key);
    await this.#writeStatus(key);
  }

  async #playInstance(key: string): Promise<void> {
    const instance = this.#read(INSTANCES, key);
    if (instance === undefined) return;
    const step = planInstance(instance, this.#settings.worldOf(key));
    const { client } = this.#settings.simulator;
    const path = { ...INSTANCES, ...placeOf(key) };
    if (step.kind === 'status') await client.update(path, { ...instance, status: step.status });
    if (step.kind === 'release') await client.update(path, { ...instance, metadata: { ...instance.metadata, finalizers: [] } });
  }

  async #playMachine(machine: ApiObject, key: string): Promise<void> {
    const { client } = this.#settings.simulator;
    await this.#playFinalizer(machine, key);
    const action = planMachine(machine, this.#read(INSTANCES, key));
    if (action === 'create-instance' && !this.#settings.backsOff(key)) {
      const { namespace, name } = placeOf(key);
      await client.create({ ...INSTANCES, namespace }, newInstance(machine, name));
    }
    if (action === 'delete-instance') await client.delete({ ...INSTANCES, ...placeOf(key) });
  }

  async #playLinks(machine: ApiObject, key: string): Promise<void> {
    const instance = this.#read(INSTANCES, key);
    const changed = instance === undefined ? undefined : withLinksOf(machine, instance);
    if (changed !== undefined) await this.#settings.simulator.client.update({ ...INSTANCES, ...placeOf(key) }, changed);
  }

  /** The machine is there as long as its instance is. */
  async #playFinalizer(machine: ApiObject, key: string): Promise<void> {
    const before = readList(machine, 'metadata', 'finalizers') as readonly string[];
    const others = before.filter((one) => one !== MACHINE_FINALIZER);
    const isOver = isBeingDeleted(machine) && this.#read(INSTANCES, key) === undefined;
    const isKept = before.length > others.length;
    if (isOver ? !isKept : isKept || isBeingDeleted(machine)) return;
    const finalizers = isOver ? others : [...before, MACHINE_FINALIZER];
    const patch = { type: 'merge', body: { metadata: { finalizers } } } as const;
    await this.#settings.simulator.client.patch({ ...MACHINES, ...placeOf(key) }, patch);
  }

  async #writeStatus(key: string): Promise<void> {
    const machine = this.#read(MACHINES, key);
    if (machine === undefined) return;
    const status = statusOf(machine, this.#read(INSTANCES, key), this.#settings.worldOf(key).now);
    if (isDeepStrictEqual(status, machine['status'])) return;
    await this.#settings.simulator.client.update({ ...MACHINES, ...placeOf(key), subresource: 'status' }, { ...machine, status });
  }

  #read(kind: typeof MACHINES | typeof INSTANCES, key: string): ApiObject | undefined {
    return this.#settings.simulator.client.get({ ...kind, ...placeOf(key) });
  }
}

function newInstance(machine: ApiObject, name: string) {
  const { apiVersion, kind, metadata } = machine;
  const owner = { apiVersion, kind, name, uid: metadata.uid ?? '', controller: true, blockOwnerDeletion: true };
  const template = (machine['spec'] as { readonly template?: { readonly metadata?: object } }).template?.metadata;
  return {
    metadata: { ...template, name, ownerReferences: [owner], finalizers: [INSTANCE_FINALIZER] },
    spec: instanceSpec(machine),
  };
}
