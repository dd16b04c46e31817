/** The effect on addresses if the events of one kind of object come late: the watches of two kinds are not ordered. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';
import { slowWatch } from './slow-watch-fixtures.js';

const KINDS = ['virtualMachines', 'virtualMachineInstances', 'networkConfigs', 'ipPools', 'networks'] as const;
type Kind = (typeof KINDS)[number];
const LAGS_MS = [1_000, 20_000];
const LONGER_THAN_ALL_MS = 50_000;
const SOON_MS = 5_000;

const A = { '10.0.0.10': '02:00:00:00:00:0a' };
const B = { '10.0.0.11': '02:00:00:00:00:0b' };

/** vm-a and vm-b have an address each, and the controller has seen that; then something happens. */
class LateStory {
  readonly running = new Running();
  /** Addresses that were missing at any time after a write of the pool. */
  readonly lost = new Set<string>();
  #kept: Readonly<Record<string, string>> = {};
  #collecting = true;
  #beganAtMs = 0;

  static async begun(kind: Kind | undefined, lagMs: number): Promise<LateStory> {
    const story = new LateStory();
    const { running } = story;
    if (kind !== undefined) slowWatch(running, running.cluster[kind], lagMs);
    await running.add(
      network(),
      network('net-2'),
      pool(),
      pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.59' }),
    );
    await running.started();
    await running.add(virtualMachine('vm-a'));
    await running.settle(3 * lagMs + 3_000);
    await running.add(virtualMachine('vm-b'));
    await running.settle(3 * lagMs + 3_000);
    expect(running.allocated()).toEqual({ ...A, ...B });
    running.cluster.ipPools.onWritten = () => story.#look();
    story.#beganAtMs = running.clock.nowMs();
    story.#collect();
    return story;
  }

  /** From now on these must stay. */
  keep(addresses: Readonly<Record<string, string>>): void {
    this.#kept = addresses;
  }

  async end(): Promise<void> {
    await this.running.settle(LONGER_THAN_ALL_MS);
    this.#collecting = false;
    await this.running.settle(LONGER_THAN_ALL_MS);
    this.#look();
  }

  #look(): void {
    const allocated = this.running.allocated();
    for (const [address, owner] of Object.entries(this.#kept))
      if (allocated[address] !== owner) this.lost.add(`${address} of ${owner}`);
  }

  /** The garbage collector does not wait for the controller. */
  #collect(): void {
    void this.running.cluster.collectGarbage();
    const isSoon = this.running.clock.nowMs() < this.#beganAtMs + SOON_MS;
    if (this.#collecting) this.running.clock.after(isSoon ? 100 : 10_000, () => this.#collect());
  }
}

type Act = (story: LateStory) => Promise<void>;

const changed = (running: Running, name: string, metadata: Partial<KubernetesObject['metadata']>) =>
  running.change('VirtualMachine', name, (vm) => ({ ...vm, metadata: { ...vm.metadata, ...metadata } }));

async function orphan({ running }: LateStory): Promise<void> {
  changed(running, 'vm-a', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  await running.settle(20);
  running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
    ...config,
    metadata: { ...config.metadata, ownerReferences: [] },
  }));
  await running.settle(20);
  running.cluster.virtualMachines.remove('default/vm-a');
}

const kept =
  (addresses: Readonly<Record<string, string>>, act: Act): Act =>
  async (story) => {
    story.keep(addresses);
    await act(story);
  };

interface LateCase {
  readonly act: Act;
  readonly end: Readonly<Record<string, string>>;
}

const remove = async ({ running }: LateStory) => {
  running.stopInstance('vm-a');
  running.cluster.virtualMachines.remove('default/vm-a');
};
const again =
  (ms: number): Act =>
  async (story) => {
    await remove(story);
    await story.running.settle(ms);
    await story.running.add(virtualMachine('vm-a'));
  };

const STORIES: Readonly<Record<string, LateCase>> = {
  'nothing happens': { act: kept({ ...A, ...B }, async () => undefined), end: { ...A, ...B } },
  'vm-a is deleted': { act: kept(B, remove), end: B },
  'vm-a is deleted and orphaned': { act: kept({ ...A, ...B }, orphan), end: { ...A, ...B } },
  'vm-a is deleted, orphaned and made again': {
    act: kept({ ...A, ...B }, async (story) => {
      await orphan(story);
      await story.running.add(virtualMachine('vm-a'));
    }),
    end: { ...A, ...B },
  },
  'vm-a is made again at once': { act: kept(B, again(0)), end: { ...A, ...B } },
  'vm-a is made again after a while': { act: kept(B, again(700)), end: { ...A, ...B } },
  'the config of vm-a is deleted by hand': {
    act: kept({ ...A, ...B }, async ({ running }) => {
      void running.cluster.networkConfigs.delete('default/vm-a', running.networkConfig('vm-a')?.metadata.uid ?? '');
    }),
    end: { ...A, ...B },
  },
  'the controller is restarted': { act: kept({ ...A, ...B }, ({ running }) => running.restart()), end: { ...A, ...B } },
  'the network is made again': {
    act: kept({ ...A, ...B }, async ({ running }) => {
      running.cluster.networks.remove('default/net-1');
      await running.settle(1_000);
      await running.add(network());
    }),
    end: { ...A, ...B },
  },
  'the pool is made again': {
    act: async ({ running }) => {
      running.cluster.ipPools.remove('default/pool-1');
      await running.settle(10);
      await running.add(pool());
    },
    end: { ...A, ...B },
  },
  'vm-a starts, its interface is removed from the template, vm-c comes': {
    act: kept({ ...A, ...B }, async ({ running }) => {
      running.startInstance('vm-a', { interfaces: { nic: ['net-1', '02:00:00:00:00:0a'] } });
      await running.settle(50);
      running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: virtualMachine('vm-a', { interfaces: {} }).spec }));
      await running.add(virtualMachine('vm-c'));
    }),
    end: { ...A, ...B, '10.0.0.12': '02:00:00:00:00:0c' },
  },
};

describe.each(Object.entries(STORIES))('%s', (_, { act, end }) => {
  it.each(KINDS)('while news of %s is late', async (kind) => {
    const found: unknown[] = [];
    for (const lagMs of LAGS_MS) {
      const story = await LateStory.begun(kind, lagMs);
      await act(story);
      await story.end();
      const allocated = story.running.allocated();
      found.push({ lagMs, lost: [...story.lost], allocated });
    }
    expect(found).toEqual(LAGS_MS.map((lagMs) => ({ lagMs, lost: [], allocated: end })));
  });
});
