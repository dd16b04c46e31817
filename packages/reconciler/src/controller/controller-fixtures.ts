/** Objects and a running controller for tests: what a test is not about is said here. */
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

import { FakeClock, MemoryCluster } from '@vmdhcp/kube-runtime/testing';

import { type ControllerObserver, DhcpController } from './dhcp-controller.js';

export function network(name = 'net-1'): KubernetesObject {
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name },
    spec: {},
  };
}

export interface PoolText {
  readonly network?: string;
  readonly start?: string;
  readonly end?: string;
  readonly paused?: boolean;
  readonly ipv4Config?: Readonly<Record<string, unknown>>;
}

export function pool(name = 'pool-1', text: PoolText = {}): KubernetesObject {
  const { network: networkName = 'default/net-1', start = '10.0.0.10', end = '10.0.0.19', paused, ipv4Config } = text;
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name },
    spec: {
      networkName,
      ...(paused !== undefined && { paused }),
      ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.2', router: '10.0.0.1', pool: { start, end }, ...ipv4Config },
    },
  };
}

export interface VirtualMachineText {
  readonly annotations?: Readonly<Record<string, string>>;
  /** Interface name to MAC address and network. */
  readonly interfaces?: Readonly<Record<string, readonly [macAddress: string | undefined, network: string]>>;
}

export function virtualMachine(name: string, { annotations, interfaces }: VirtualMachineText = {}): KubernetesObject {
  const entries = Object.entries(interfaces ?? { nic: [`02:00:00:00:00:${macOctet(name)}`, 'net-1'] as const });
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name, ...(annotations && { annotations }) },
    spec: {
      template: {
        spec: {
          domain: {
            devices: { interfaces: entries.map(([nic, [macAddress]]) => ({ name: nic, ...(macAddress && { macAddress }) })) },
          },
          networks: entries.map(([nic, [, net]]) => ({ name: nic, multus: { networkName: net } })),
        },
      },
    },
  };
}

export interface GuestText {
  /** Interface name to network, MAC address that the spec asks for, and MAC address that the status reports. */
  readonly interfaces?: Readonly<
    Record<string, readonly [network: string, asked?: string | undefined, reported?: string | undefined]>
  >;
  readonly phase?: string;
  /** Default: none. */
  readonly ownerUid?: string;
}

/** A VirtualMachineInstance: the guest of the virtual machine of the same name. */
export function guest(name: string, { interfaces, phase = 'Running', ownerUid }: GuestText = {}): KubernetesObject {
  const entries = Object.entries(interfaces ?? { nic: ['net-1'] as const });
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: ownerUid ?? '', controller: true };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name, ...(ownerUid !== undefined && { ownerReferences: [owner] }) },
    spec: {
      domain: {
        devices: {
          interfaces: entries.map(([nic, [, asked]]) => ({ name: nic, bridge: {}, ...(asked && { macAddress: asked }) })),
        },
      },
      networks: entries.map(([nic, [net]]) => ({ name: nic, multus: { networkName: net } })),
    },
    status: {
      phase,
      interfaces: entries.flatMap(([nic, [, , reported]]) =>
        reported ? [{ name: nic, mac: reported, infoSource: 'domain' }] : [],
      ),
    },
  };
}

/** `vm-a` has 0a, `vm-b` 0b, ... */
function macOctet(name: string): string {
  return (name.charCodeAt(name.length - 1) - 'a'.charCodeAt(0) + 10).toString(16).padStart(2, '0');
}

/** A cluster, and a controller that leads in it. */
export class Running {
  readonly clock = new FakeClock();
  readonly cluster = new MemoryCluster(this.clock);
  readonly #observer: ControllerObserver;
  controller: DhcpController;

  constructor(observer: ControllerObserver = {}) {
    this.#observer = observer;
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

  /** The controller is gone in the midst of what it does, and another one comes. */
  async restart(): Promise<void> {
    const { controller } = this;
    this.controller = this.#create();
    void controller.stop();
    await this.started();
  }

  async add(...objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) {
      const created = this.#resource(object.kind).create(object);
      await this.clock.advance(2);
      const result = await created;
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
    if (kind === 'VirtualMachineInstance') this.#tellOfGuest(name);
  }

  async remove(kind: string, name: string): Promise<void> {
    const resource = this.#resource(kind);
    const stored = resource.objects.get(`default/${name}`);
    const removed = resource.delete(`default/${name}`, stored?.metadata.uid ?? '');
    await this.clock.advance(2);
    await removed;
    const collected = this.cluster.collectGarbage();
    await this.clock.advance(50);
    await collected;
  }

  /** Long enough for everything that takes its time, short enough for nothing to be repeated. */
  async settle(ms = 3_000): Promise<void> {
    await this.clock.advance(ms);
  }

  /** The guest of a virtual machine starts, or is another than before; KubeVirt says in the virtual machine that there is one. */
  startGuest(name: string, text: GuestText = {}): void {
    const { virtualMachines, virtualMachineInstances } = this.cluster;
    const ownerUid = text.ownerUid ?? virtualMachines.objects.get(`default/${name}`)?.metadata.uid;
    const made = guest(name, { ...text, ...(ownerUid !== undefined && { ownerUid }) });
    const uid = virtualMachineInstances.objects.get(`default/${name}`)?.metadata.uid ?? `${name}-${this.clock.nowMs()}`;
    virtualMachineInstances.put({ ...made, metadata: { ...made.metadata, uid } });
    this.#tellOfGuest(name);
  }

  /** The guest is gone. */
  stopGuest(name: string): void {
    this.cluster.virtualMachineInstances.remove(`default/${name}`);
    this.#tellOfGuest(name);
  }

  /** As KubeVirt does: the virtual machine says whether there is a guest, and whether that has ended. */
  #tellOfGuest(name: string): void {
    const { virtualMachines, virtualMachineInstances } = this.cluster;
    const machine = virtualMachines.objects.get(`default/${name}`);
    const instance = virtualMachineInstances.objects.get(`default/${name}`);
    const isAnother = instance !== undefined && readText(instance.metadata.ownerReferences?.[0], 'uid') !== machine?.metadata.uid;
    if (machine === undefined || isAnother) return;
    const isOver = !hasGuest(instance);
    const status = { created: instance !== undefined, printableStatus: isOver ? 'Stopped' : 'Running' };
    const isSaid = machine.status === undefined ? !status.created : JSON.stringify(machine.status) === JSON.stringify(status);
    if (!isSaid) virtualMachines.put({ ...machine, status });
  }

  /** Address to MAC address, marks left out. */
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
    return new DhcpController({
      clients: { ...this.cluster, events: this.cluster.events },
      clock: this.clock,
      now: () => '2026-01-01T00:00:00Z',
      random: seededRandom(),
      identity: 'controller-1',
      observer: this.#observer,
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

function hasGuest(instance: KubernetesObject | undefined): boolean {
  return instance !== undefined && !['Succeeded', 'Failed'].includes(readText(instance.status, 'phase') ?? '');
}
