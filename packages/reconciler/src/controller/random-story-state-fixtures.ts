/** The cluster of a random story: its objects, and the violations so far. */
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import { pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { readLeavingNetworks } from '../virtual-machine/leaving-networks.js';
import { Running } from './controller-fixtures.js';
import { Orphan } from './orphan-fixtures.js';
import { Holdings, type ServingPool, type StoryFault } from './story-fixtures.js';

export const NETWORKS = ['net-1', 'net-2', 'net-3'] as const;

export type Nics = Readonly<Record<string, readonly [macAddress: string | undefined, network: string]>>;
/** An act. */
export type Act = (story: Story) => void | Promise<void>;

export class Story {
  readonly running = new Running();
  readonly random: Random;
  readonly pools: Readonly<Record<string, KubernetesObject>>;
  readonly holdings: Holdings;
  readonly faults: StoryFault[] = [];
  readonly #orphans: Orphan[] = [];
  #serial = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
    this.pools = {
      'pool-1': pool('pool-1', { end: '10.0.0.12' }),
      'pool-2': pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.51' }),
      'pool-3': pool('pool-3', { network: 'default/net-3', start: '10.0.0.60', end: '10.0.0.64' }),
    };
    this.holdings = new Holdings(this.running, (net) => this.poolOn(net));
  }

  look(): void {
    this.faults.push(...this.holdings.look(), ...this.#orphans.flatMap((orphan) => orphan.look()));
  }

  /** Its virtual machine is deleted, but its config stays. */
  orphaned(machine: KubernetesObject): void {
    const config = this.running.networkConfig(machine.metadata.name);
    if (config !== undefined && !this.holdings.wasConfigPaused(machine)) this.#orphans.push(new Orphan(this, config));
  }

  get cluster(): Running['cluster'] {
    return this.running.cluster;
  }

  next(): number {
    return ++this.#serial;
  }

  mac(): string {
    const serial = this.next();
    return `02:00:00:00:${octet(serial >> 8)}:${octet(serial & 255)}`;
  }

  /** A random existing machine. */
  machine(): KubernetesObject | undefined {
    const machines = [...this.cluster.virtualMachines.objects.values()];
    return machines[this.random(Math.max(1, machines.length))];
  }

  poolName(): string {
    return `pool-${1 + this.random(3)}`;
  }

  /** Interfaces of a machine to be; `isPlain`: without MAC addresses, as KubeVirt chooses them. */
  nics(isPlain = false): Nics {
    const mac = () => (isPlain ? undefined : this.mac());
    const some = NETWORKS.filter(() => this.random(2) === 0);
    return Object.fromEntries((some.length === 0 ? (['net-1'] as const) : some).map((net) => [net, [mac(), net] as const]));
  }

  putMachine(name: string, interfaces: Nics, uid: string): void {
    const made = virtualMachine(name, { interfaces });
    this.cluster.virtualMachines.put({ ...made, metadata: { ...made.metadata, uid, generation: 1 } });
  }

  removeMachine(name: string): void {
    this.running.stopInstance(name);
    this.cluster.virtualMachines.remove(`default/${name}`);
  }

  /** True if a config keeps an address that its guest may still use on a former network. */
  isLeaving(): boolean {
    return [...this.cluster.networkConfigs.objects.values()].some((config) => readLeavingNetworks(config).size > 0);
  }

  collectGarbage(): void {
    // The story's own writes may be the ones that fail.
    void this.cluster.collectGarbage().catch(() => undefined);
  }

  poolOn(net: string): ServingPool {
    const serving = servingPools(this.running).get(net);
    const record = serving === undefined ? {} : this.running.allocated(serving.metadata.name);
    return { uid: serving?.metadata.uid, record };
  }
}

function octet(value: number): string {
  return value.toString(16).padStart(2, '0');
}

/** The interfaces of a machine's template, as they are written. */
export function nicsOf(machine: KubernetesObject): Nics {
  const template = readField(machine.spec, 'template', 'spec');
  const asked = new Map(
    readList(template, 'domain', 'devices', 'interfaces').map((one) => [readText(one, 'name'), readText(one, 'macAddress')]),
  );
  return Object.fromEntries(
    readList(template, 'networks').map((one) => {
      const name = readText(one, 'name') ?? '';
      return [name, [asked.get(name), readText(one, 'multus', 'networkName') ?? ''] as const];
    }),
  );
}

/** The oldest pool of each network. */
export function servingPools({ cluster }: Running): Map<string, KubernetesObject> {
  const serving = new Map<string, KubernetesObject>();
  const age = ({ metadata }: KubernetesObject) => `${metadata.creationTimestamp} ${metadata.name}`;
  for (const one of [...cluster.ipPools.objects.values()].toSorted((a, b) => age(a).localeCompare(age(b)))) {
    const net = readText(one.spec, 'networkName') ?? '';
    if (!serving.has(net)) serving.set(net, one);
  }
  return serving;
}
