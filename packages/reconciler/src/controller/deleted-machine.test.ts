/** The address of a deleted virtual machine is free at once, whenever the garbage collector runs. */
import { readField } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const A = { '10.0.0.10': '02:00:00:00:00:0a' };

async function withMachine(): Promise<Running> {
  const running = await Running.withPool();
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  expect(running.allocated()).toEqual(A);
  return running;
}

it('vm-a is deleted: its address is free before the garbage collector comes, nothing is reported, and the next one has it', async () => {
  const running = await withMachine();
  running.cluster.virtualMachines.remove('default/vm-a');
  await running.settle();
  expect(running.networkConfig('vm-a')).toBeUndefined();
  expect(running.allocated()).toEqual({});
  const collected = running.cluster.collectGarbage();
  await running.settle(60_000);
  await collected;
  expect(running.events()).toEqual([]);
  await running.add(virtualMachine('vm-b'));
  await running.settle();
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0b' });
});

it('vm-a is deleted while no controller runs: the next one frees its address', async () => {
  const running = await withMachine();
  await running.controller.stop();
  running.cluster.virtualMachines.remove('default/vm-a');
  await running.restart();
  expect(running.allocated()).toEqual({});
});

it('vm-a is gone but its instance still runs: it keeps its address until it has ended', async () => {
  const running = await withMachine();
  running.startInstance('vm-a');
  await running.settle();
  running.cluster.virtualMachines.remove('default/vm-a');
  await running.settle(60_000);
  expect(running.allocated()).toEqual(A);
  running.stopInstance('vm-a');
  await running.settle();
  expect(running.allocated()).toEqual({});
});

it('instances cannot be listed: it is unknown whether it runs, and the garbage collector decides', async () => {
  const running = new Running();
  const error = Object.assign(new Error('HTTP 403'), { status: 403 });
  Object.assign(running.cluster.virtualMachineInstances, {
    list: async () => {
      await new Promise<void>((resolve) => running.clock.after(1, resolve));
      throw error;
    },
  });
  await running.add(network(), pool());
  await running.started();
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  running.cluster.virtualMachines.remove('default/vm-a');
  await running.settle(60_000);
  expect(running.allocated()).toEqual(A);
  const collected = running.cluster.collectGarbage();
  await running.settle();
  await collected;
  expect(running.allocated()).toEqual({});
});

it('a cache that has lost vm-a deletes nothing: the API server is asked first', async () => {
  const running = await withMachine();
  const stored = running.cluster.virtualMachines.objects.get('default/vm-a');
  const { get } = running.cluster.virtualMachines;
  (running.cluster.virtualMachines as { get: typeof get }).get = async () => stored;
  running.cluster.virtualMachines.remove('default/vm-a');
  await running.settle(60_000);
  expect(running.allocated()).toEqual(A);
  (running.cluster.virtualMachines as { get: typeof get }).get = get;
  await running.settle(30_000);
  expect(running.allocated()).toEqual({});
});

it('vm-a is deleted and its config orphaned in the same moment: the address stays', async () => {
  const running = await withMachine();
  const { virtualMachines } = running.cluster;
  const { get } = virtualMachines;
  // During the request for the virtual machine, a person orphans the config.
  (virtualMachines as { get: typeof get }).get = async (key) => {
    running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
      ...config,
      metadata: { ...config.metadata, ownerReferences: [] },
    }));
    return get(key);
  };
  virtualMachines.remove('default/vm-a');
  await running.settle(60_000);
  expect(running.allocated()).toEqual(A);
  expect(running.events()).toEqual(['VirtualMachineMissing on VirtualMachineNetworkConfig vm-a']);
});

it('many virtual machines are deleted: a few patches of the pool free all addresses', async () => {
  const running = await Running.withPool({ start: '10.0.1.0', end: '10.0.20.0', ipv4Config: { cidr: '10.0.0.0/16' } });
  const names = Array.from({ length: 200 }, (_, index) => `vm-${index}`);
  for (const [index, name] of names.entries()) {
    const mac = `02:00:00:01:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`;
    running.cluster.virtualMachines.put(virtualMachine(name, { interfaces: { nic: [mac, 'net-1'] } }));
  }
  await running.settle(30_000);
  expect(Object.keys(running.allocated())).toHaveLength(200);
  let patches = 0;
  running.cluster.ipPools.writeFault = (verb) => {
    if (verb === 'patchStatus') patches++;
    return 'none';
  };
  for (const name of names) running.cluster.virtualMachines.remove(`default/${name}`);
  await running.settle(10_000);
  expect(running.allocated()).toEqual({});
  expect(running.cluster.networkConfigs.objects.size).toBe(0);
  expect(patches).toBeLessThanOrEqual(3);
  expect(readField(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4', 'used')).toBe(0);
});
