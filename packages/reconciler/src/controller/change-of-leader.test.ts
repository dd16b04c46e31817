import { fencedClient, type KubernetesObject, type ObjectClient, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { DhcpController } from './dhcp-controller.js';

function controllerOf(
  cluster: MemoryCluster,
  clock: FakeClock,
  networkConfigs: ObjectClient<KubernetesObject> = cluster.networkConfigs,
) {
  return new DhcpController({
    ...memoryApi({ ...cluster, networkConfigs }, clock),
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    identity: 'c',
  });
}

/** The same, but events are seen this much later: another API server lags, or a connection is half open. */
function seenLater(client: ObjectClient<KubernetesObject>, clock: FakeClock, delayMs: number): ObjectClient<KubernetesObject> {
  return {
    ...fencedClient(client, () => true),
    watch: (version, handlers) => {
      let stopped = false;
      const stop = client.watch(version, {
        onEvent: (event) => void clock.after(delayMs, () => !stopped && handlers.onEvent(event)),
        onEnd: (end) => void clock.after(delayMs, () => !stopped && handlers.onEnd(end)),
      });
      return () => {
        stopped = true;
        stop();
      };
    },
  };
}

it.each([50, 1_000, 60_000])(
  'a new leader sees configs %i ms later than pools: no virtual machine loses its address or gets that of another',
  async (lagMs) => {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const old = controllerOf(cluster, clock);
    const next = controllerOf(cluster, clock, seenLater(cluster.networkConfigs, clock, lagMs));
    const made = [cluster.networks.create(network()), cluster.ipPools.create(pool('pool-1', { end: '10.0.0.11' }))];
    await clock.advance(5);
    await Promise.all(made);
    old.start();
    next.start();
    old.lead();
    await clock.advance(100_000);
    const create = async (name: string) => {
      const creating = cluster.virtualMachines.create(virtualMachine(name));
      await clock.advance(2);
      await creating;
    };
    await create('vm-a');
    await clock.advance(10);
    await create('vm-b');
    await clock.advance(10);
    const allocated = () =>
      Object.fromEntries(
        Object.entries((readField(cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4', 'allocated') ?? {}) as object),
      );
    expect(allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    const stopping = old.stop();
    await clock.advance(5);
    await stopping;
    const seen: unknown[] = [];
    cluster.ipPools.onWritten = () => seen.push(allocated());
    next.lead();
    await create('vm-c');
    await clock.advance(40);
    await clock.advance(120_000);
    const shown = [...cluster.networkConfigs.objects.values()].flatMap(({ metadata, status }) =>
      readList(status, 'networkConfigs').map((entry) => `${metadata.name} ${readText(entry, 'allocatedIPAddress')}`),
    );
    expect({
      allocated: allocated(),
      shown,
      freedMeanwhile: seen.filter((one) => Object.values(one as object).length < 2),
    }).toMatchObject({
      allocated: { '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' },
      freedMeanwhile: [],
    });
  },
);

it('the new leader does not undo changes of the old one because of an outdated VirtualMachine', async () => {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock);
  const old = controllerOf(cluster, clock);
  const lagging = seenLater(cluster.virtualMachines, clock, 60_000);
  const next = new DhcpController({
    ...memoryApi({ ...cluster, virtualMachines: lagging }, clock),
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    identity: 'c',
  });
  const made = [
    cluster.networks.create(network()),
    cluster.ipPools.create(pool('pool-1')),
    cluster.virtualMachines.create(virtualMachine('vm-a')),
  ];
  await clock.advance(5);
  await Promise.all(made);
  old.start();
  next.start();
  old.lead();
  await clock.advance(100_000);
  const stored = cluster.virtualMachines.objects.get('default/vm-a') as KubernetesObject;
  cluster.virtualMachines.put({
    ...stored,
    metadata: { ...stored.metadata, annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.15' } },
  });
  await clock.advance(5_000);
  const allocated = () => readField(cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4', 'allocated');
  expect(allocated()).toEqual({ '10.0.0.15': '02:00:00:00:00:0a' });
  const stopping = old.stop();
  await clock.advance(100);
  await stopping;
  const seen: string[] = [];
  cluster.networkConfigs.onWritten = () =>
    seen.push(JSON.stringify(readField(cluster.networkConfigs.objects.get('default/vm-a')?.spec, 'networkConfigs')));
  next.lead();
  await clock.advance(120_000);
  expect([...new Set(seen)].filter((one) => !one.includes('10.0.0.15'))).toEqual([]);
});

describe('a follower that becomes leader', () => {
  async function follower() {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const log: string[] = [];
    const controller = new DhcpController({
      ...memoryApi({ ...cluster }, clock),
      clock,
      now: () => '2026-01-01T00:00:00Z',
      random: () => 0.5,
      identity: 'c',
      observer: {
        onSynced: () => log.push('synced'),
        onReconciled: ({ kind, key }) => log.push(`${kind} ${key}`),
      },
    });
    cluster.networks.put(network());
    cluster.ipPools.put(pool('pool-1'));
    controller.start();
    await clock.advance(1_000);
    return { clock, cluster, controller, log };
  }

  it('reconciles nothing before, even if every cache is complete', async () => {
    const { controller, log, clock, cluster } = await follower();
    cluster.virtualMachines.put(virtualMachine('vm-a'));
    await clock.advance(60_000);
    expect([controller.synced, controller.reconciling, log]).toEqual([true, false, []]);
  });

  it.each(['virtualMachines', 'networkConfigs', 'ipPools', 'networks', 'virtualMachineInstances'] as const)(
    'lists %s again, and reconciles only then',
    async (kind) => {
      const { controller, log, clock, cluster } = await follower();
      const { lists } = cluster[kind].requests;
      cluster[kind].failNext = 1;
      controller.lead();
      // The failed list is retried a tenth of a second later.
      await clock.advance(20);
      expect([cluster[kind].requests.lists, controller.reconciling, log]).toEqual([lists + 1, false, []]);
      await clock.advance(1_000);
      expect(cluster[kind].requests.lists).toBe(lists + 2);
      expect(controller.reconciling).toBe(true);
      expect(log).toEqual(expect.arrayContaining(['synced', 'networks default/net-1', 'ipPools default/pool-1']));
      const stopping = controller.stop();
      await clock.advance(10);
      await stopping;
      expect(controller.reconciling).toBe(false);
    },
  );

  it('reconciles nothing if it is stopped meanwhile', async () => {
    const { controller, log, clock } = await follower();
    controller.lead();
    void controller.stop();
    await clock.advance(60_000);
    expect([controller.reconciling, log]).toEqual([false, []]);
    controller.lead();
    controller.start();
    await clock.advance(60_000);
    expect([controller.reconciling, log]).toEqual([false, []]);
  });
});
