/** An address is released in this order: its claim goes, its pool records that, and only then its config forgets it or is deleted. */
import { IPPOOL_FINALIZER } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const MAC = '02:00:00:00:00:0a';

/** `vm-a` has 10.0.0.10, and no pool can be written. */
async function withoutPoolWrites(): Promise<Running> {
  const running = await Running.withPool();
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
  running.cluster.ipPools.writeFault = () => 'lost-request';
  return running;
}

const finalizersOf = (object: KubernetesObject | undefined) => object?.metadata.finalizers;

function withFinalizers(running: Running, kind: string, name: string, change: (finalizers: readonly string[]) => string[]): void {
  running.change(kind, name, (one) => ({
    ...one,
    metadata: { ...one.metadata, finalizers: change(one.metadata.finalizers ?? []) },
  }));
}

describe('a config waits until its pool has released its addresses', () => {
  it('its virtual machine is deleted: the config stays, with its finalizer, as long as the pool cannot be written', async () => {
    const running = await withoutPoolWrites();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(120_000);
    expect(running.networkConfig('vm-a')?.metadata.deletionTimestamp).toBeDefined();
    expect(finalizersOf(running.networkConfig('vm-a'))).toHaveLength(1);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    running.cluster.ipPools.writeFault = () => 'none';
    await running.settle(60_000);
    expect([running.networkConfig('vm-a'), running.allocated()]).toEqual([undefined, {}]);
  });

  it('the pool is written first, then the config is gone, within a quarter of a second', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    const writes: string[] = [];
    running.cluster.ipPools.onWritten = () => writes.push(`pool ${Object.keys(running.allocated()).length}`);
    running.cluster.networkConfigs.onWritten = (what) =>
      writes.push(`${what} ${running.networkConfig('vm-a') === undefined ? 'and gone' : 'and there'}`);
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(250);
    // Both the controller and the garbage collector delete the config.
    expect(writes).toEqual(['delete and there', 'delete and there', 'pool 0', 'patch and gone']);
  });

  it('an interface is removed: the status names its address until the pool has released it', async () => {
    const running = await withoutPoolWrites();
    const addresses = () =>
      readList(running.networkConfig('vm-a')?.status, 'networkConfigs').map(
        (entry) => (entry as { allocatedIPAddress?: string }).allocatedIPAddress,
      );
    running.change('VirtualMachine', 'vm-a', (one) => ({ ...one, spec: virtualMachine('vm-a', { interfaces: {} }).spec }));
    await running.settle(60_000);
    expect(addresses()).toContain('10.0.0.10');
    running.cluster.ipPools.writeFault = () => 'none';
    await running.settle(60_000);
    expect([addresses(), running.allocated()]).toEqual([[], {}]);
  });

  it('the last interface on a network is removed: the status forgets its address as soon as the pool has released it', async () => {
    const running = new Running();
    const twoNics = { a: [MAC, 'net-1'], b: ['02:00:00:00:00:0b', 'net-2'] } as const;
    await running.add(network(), network('net-2'), pool(), virtualMachine('vm-a', { interfaces: twoNics }));
    await running.started();
    const networks = () =>
      readList(running.networkConfig('vm-a')?.status, 'networkConfigs').map((entry) => readText(entry, 'networkName'));
    expect(networks()).toContain('default/net-1');
    // The config is reconciled before the pool is written.
    const faults = ['lost-request'] as const;
    let writes = 0;
    running.cluster.ipPools.writeFault = () => faults[writes++] ?? 'none';
    running.change('VirtualMachine', 'vm-a', (one) => ({
      ...one,
      spec: virtualMachine('vm-a', { interfaces: { b: twoNics.b } }).spec,
    }));
    await running.settle(1_000);
    expect([networks(), running.allocated()]).toEqual([['default/net-2'], {}]);
  });

  it('a config that waited and is gone is not reconciled when its pool changes later', async () => {
    const reconciled: string[] = [];
    const running = new Running({ onReconciled: ({ kind, key }) => reconciled.push(`${kind} ${key}`) });
    await running.add(network(), pool(), virtualMachine('vm-a'));
    await running.started();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    expect(reconciled).toContain('networkConfigs default/vm-a');
    reconciled.length = 0;
    running.change('IPPool', 'pool-1', (one) => ({ ...one, spec: { ...(one.spec as object), paused: false } }));
    await running.settle();
    expect(reconciled).toEqual(expect.arrayContaining(['ipPools default/pool-1']));
    expect(reconciled).not.toContain('networkConfigs default/vm-a');
  });

  it('a config whose addresses are reserved, or claimed by another config, does not wait', async () => {
    const running = await Running.withPool({ ipv4Config: { reservations: [{ macAddress: MAC, ipAddress: '10.0.0.15' }] } });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.15': MAC });
    running.cluster.ipPools.writeFault = () => 'lost-request';
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(1_000);
    expect(running.networkConfig('vm-a')).toBeUndefined();
    running.cluster.ipPools.writeFault = () => 'none';
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.15': MAC });
  });
});

describe('finalizers of other controllers', () => {
  it('stay when ours is added to a config', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    const [ours] = finalizersOf(running.networkConfig('vm-a')) ?? [];
    withFinalizers(running, 'VirtualMachineNetworkConfig', 'vm-a', () => ['example.com/theirs']);
    await running.settle();
    expect(finalizersOf(running.networkConfig('vm-a'))).toEqual(['example.com/theirs', ours]);
  });

  it('stay when ours is removed: the config stays until they are gone, and has no address', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    withFinalizers(running, 'VirtualMachineNetworkConfig', 'vm-a', (finalizers) => ['example.com/theirs', ...finalizers]);
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    expect(finalizersOf(running.networkConfig('vm-a'))).toEqual(['example.com/theirs']);
    expect(running.allocated()).toEqual({});
    let writes = 0;
    running.cluster.networkConfigs.onWritten = () => writes++;
    await running.settle(60_000);
    expect(writes).toBe(0);
  });

  it('stay on a pool', async () => {
    const running = await Running.withPool();
    withFinalizers(running, 'IPPool', 'pool-1', (finalizers) => ['example.com/theirs', IPPOOL_FINALIZER, ...finalizers]);
    const { ipPools } = running.cluster;
    const deleting = ipPools.delete('default/pool-1', ipPools.objects.get('default/pool-1')?.metadata.uid ?? '');
    await running.settle();
    await deleting;
    expect(finalizersOf(ipPools.objects.get('default/pool-1'))).toEqual(['example.com/theirs']);
  });
});

describe('objects that vanish without being seen as deleted', () => {
  /** Hides all events during `act`. */
  async function unseen(running: Running, act: () => void): Promise<void> {
    running.cluster.networkConfigs.closeWatches('expired');
    act();
    running.cluster.networkConfigs.compact();
    await running.settle();
  }

  it('a config vanished and is created again: another virtual machine that waits does not get its address', async () => {
    const running = await Running.withPool({ end: '10.0.0.11' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    await running.add(virtualMachine('vm-c'));
    const records: unknown[] = [];
    running.cluster.ipPools.onWritten = () => records.push(running.allocated());
    await unseen(running, () => running.cluster.networkConfigs.remove('default/vm-a'));
    await running.settle(60_000);
    const both = { '10.0.0.10': MAC, '10.0.0.11': '02:00:00:00:00:0b' };
    expect(running.allocated()).toEqual(both);
    for (const record of records) expect(record).toEqual(both);
    expect(running.networkConfig('vm-a')).toBeDefined();
  });

  it('a virtual machine and its config vanished: the address is released and goes to the one that waits', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    await unseen(running, () => {
      running.cluster.networkConfigs.remove('default/vm-a');
      running.cluster.virtualMachines.remove('default/vm-a');
    });
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0b' });
  });

  it('a config vanished, its virtual machine comes back with another MAC address: the former one claims nothing', async () => {
    const running = await Running.withPool({ end: '10.0.0.11' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await unseen(running, () => {
      running.cluster.networkConfigs.remove('default/vm-a');
      running.cluster.virtualMachines.remove('default/vm-a');
    });
    await running.add(virtualMachine('vm-a', { interfaces: { nic: ['02:00:00:00:00:99', 'net-1'] } }), virtualMachine('vm-b'));
    await running.settle(60_000);
    expect(Object.values(running.allocated()).toSorted()).toEqual(['02:00:00:00:00:0b', '02:00:00:00:00:99']);
  });

  it('a pool vanished and is created again empty: its virtual machines get their addresses again, no other one does', async () => {
    const running = await Running.withPool({ end: '10.0.0.11' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    const { ipPools } = running.cluster;
    const stored = ipPools.objects.get('default/pool-1') as KubernetesObject;
    const before = running.allocated();
    ipPools.closeWatches('expired');
    ipPools.remove('default/pool-1');
    ipPools.compact();
    await running.settle(100);
    const { status: _, ...made } = stored;
    ipPools.put({ ...made, metadata: { ...made.metadata, uid: 'again', creationTimestamp: '2026-01-02T00:00:00Z' } });
    await running.settle(60_000);
    expect(running.allocated()).toEqual(before);
  });
});
