/** A cluster in memory with a running controller, for tests. */
import { formatTime, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { type InstanceText, instance, network, type PoolText, pool } from '../fixtures/object-fixtures.js';
import type { ControllerObserver } from './controller-observer.js';
import { DhcpController } from './dhcp-controller.js';
import type { DhcpControllerSettings } from './dhcp-controller-settings.js';

const START = '2026-01-01T00:00:00Z';

type MoreSettings = Pick<DhcpControllerSettings, 'annotatesMachines' | 'clusterNetworks' | 'mayLackKinds'>;

/** A cluster, and a controller that is leader in it. */
export class Running {
  /** True if the wall clock goes on; otherwise it is always the same second. */
  hasWallClock = false;
  readonly clock = new FakeClock();
  readonly cluster = new MemoryCluster(this.clock);
  readonly #observer: ControllerObserver;
  readonly #more: MoreSettings;
  controller: DhcpController;

  constructor(observer: ControllerObserver = {}, more: MoreSettings = {}) {
    this.#observer = observer;
    this.#more = more;
    this.controller = this.#create();
  }

  static async withPool(text?: PoolText): Promise<Running> {
    const running = new Running();
    await running.add(network(), pool('pool-1', text));
    return running.started();
  }

  async started(): Promise<Running> {
    this.controller.start();
    this.controller.lead();
    await this.settle();
    return this;
  }

  /** Kills the controller during its work, and starts another one. */
  async restart(): Promise<void> {
    const { controller } = this;
    this.controller = this.#create();
    void controller.stop();
    await this.started();
  }

  async add(...objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) {
      const result = await this.during(2, this.#resource(object.kind).create(object));
      if (!result.ok) throw new Error(result.message);
    }
  }

  /** Changes the stored object, its status included. */
  change(kind: string, name: string, change: (object: KubernetesObject) => KubernetesObject): void {
    const resource = this.#resource(kind);
    const stored = resource.objects.get(`default/${name}`);
    if (stored === undefined) throw new Error(`there is no ${kind} ${name}`);
    const changed = change(stored);
    const generation = (stored.metadata.generation ?? 1) + (JSON.stringify(changed.spec) === JSON.stringify(stored.spec) ? 0 : 1);
    resource.put({ ...changed, metadata: { ...changed.metadata, generation } });
    if (kind === 'VirtualMachineInstance') this.#reportInstance(name);
  }

  async remove(kind: string, name: string): Promise<void> {
    const resource = this.#resource(kind);
    const stored = resource.objects.get(`default/${name}`);
    await this.during(2, resource.delete(`default/${name}`, stored?.metadata.uid ?? ''));
    await this.during(50, this.cluster.collectGarbage());
  }

  /** Lets time pass during a request, then throws its error if it failed. */
  async during<Answer>(ms: number, request: Promise<Answer>): Promise<Answer> {
    const [answer] = await Promise.allSettled([request, this.clock.advance(ms)]);
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  /** Long enough for everything to settle, short enough that nothing is repeated. */
  async settle(ms = 3_000): Promise<void> {
    await this.clock.advance(ms);
  }

  /** An instance of a virtual machine starts or changes; KubeVirt reports in the status of the virtual machine that there is one. */
  startInstance(name: string, text: InstanceText = {}): void {
    const { virtualMachines, virtualMachineInstances } = this.cluster;
    const ownerUid = text.ownerUid ?? virtualMachines.objects.get(`default/${name}`)?.metadata.uid;
    const made = instance(name, { ...text, ...(ownerUid !== undefined && { ownerUid }) });
    const uid = virtualMachineInstances.objects.get(`default/${name}`)?.metadata.uid ?? `${name}-${this.clock.nowMs()}`;
    virtualMachineInstances.put({ ...made, metadata: { ...made.metadata, uid } });
    this.#reportInstance(name);
  }

  /** Removes the instance. */
  stopInstance(name: string): void {
    this.cluster.virtualMachineInstances.remove(`default/${name}`);
    this.#reportInstance(name);
  }

  /** Like KubeVirt, updates the virtual machine: whether there is an instance, and whether that has ended. */
  #reportInstance(name: string): void {
    const { virtualMachines, virtualMachineInstances } = this.cluster;
    const machine = virtualMachines.objects.get(`default/${name}`);
    const stored = virtualMachineInstances.objects.get(`default/${name}`);
    const isAnother = stored !== undefined && readText(stored.metadata.ownerReferences?.[0], 'uid') !== machine?.metadata.uid;
    if (machine === undefined || isAnother) return;
    const isOver = !isRunning(stored);
    const status = { created: stored !== undefined, printableStatus: isOver ? 'Stopped' : 'Running' };
    const isReported = machine.status === undefined ? !status.created : JSON.stringify(machine.status) === JSON.stringify(status);
    if (!isReported) virtualMachines.put({ ...machine, status });
  }

  /** Address to MAC address, without marks. */
  allocated(poolName = 'pool-1'): Record<string, string> {
    const map = readField(this.cluster.ipPools.objects.get(`default/${poolName}`)?.status, 'ipv4', 'allocated') ?? {};
    return Object.fromEntries(
      Object.entries(map as Record<string, string>).filter(([, value]) => typeof value === 'string' && value.includes(':')),
    );
  }

  /** `Type=Status Reason` of each condition. */
  conditions(kind: string, name: string): string[] {
    const object = this.#resource(kind).objects.get(`default/${name}`);
    return readList(object?.status, 'conditions').map((condition) => {
      const { type, status, reason } = condition as { type: string; status: string; reason?: string };
      return `${type}=${status}${reason === undefined ? '' : ` ${reason}`}`;
    });
  }

  /** `reason on Kind name`, in order. */
  events(): string[] {
    return [...this.cluster.events.objects.values()].map(
      ({ reason, involvedObject: { kind, name } }) => `${reason} on ${kind} ${name}`,
    );
  }

  networkConfig(name: string): KubernetesObject | undefined {
    return this.cluster.networkConfigs.objects.get(`default/${name}`);
  }

  #create(): DhcpController {
    const random = seededRandom();
    return new DhcpController({
      ...memoryApi({ ...this.cluster }, this.clock, random),
      clock: this.clock,
      now: () => (this.hasWallClock ? formatTime(Date.parse(START) + this.clock.nowMs()) : START),
      random,
      identity: 'controller-1',
      observer: this.#observer,
      ...this.#more,
    });
  }

  #resource(kind = '') {
    const { virtualMachines, virtualMachineInstances, networkConfigs, ipPools, networks } = this.cluster;
    const resources = new Map([
      ['VirtualMachine', virtualMachines],
      ['VirtualMachineInstance', virtualMachineInstances],
      ['VirtualMachineNetworkConfig', networkConfigs],
      ['IPPool', ipPools],
    ]);
    return resources.get(kind) ?? networks;
  }
}

function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function isRunning(instance: KubernetesObject | undefined): boolean {
  return instance !== undefined && !['Succeeded', 'Failed'].includes(readText(instance.status, 'phase') ?? '');
}
