import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';
import { slowWatch } from './slow-watch-fixtures.js';

const conditionsOf = (running: Running, name: string) => running.conditions('VirtualMachineNetworkConfig', name);

/** As `kubectl delete vm --cascade=orphan`: the virtual machine is being deleted, its dependents lose their owner, then it goes. */
async function deleteAndOrphan(running: Running, name: string): Promise<void> {
  running.change('VirtualMachine', name, (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }));
  await running.settle();
  running.change('VirtualMachineNetworkConfig', name, (config) => ({
    ...config,
    metadata: { ...config.metadata, ownerReferences: [] },
  }));
  running.cluster.virtualMachines.remove(`default/${name}`);
  await running.settle();
}

it('vm-a is deleted and its config orphaned: the address stays, the config reports why, and the remedies work', async () => {
  const running = await Running.withPool();
  await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
  await running.settle();
  await deleteAndOrphan(running, 'vm-a');
  const both = { '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' };
  expect(running.allocated()).toEqual(both);
  expect(conditionsOf(running, 'vm-a')).toEqual(['Disabled=False', 'Allocated=True VirtualMachineMissing', 'InSynced=True']);
  expect(running.events()).toEqual(['VirtualMachineMissing on VirtualMachineNetworkConfig vm-a']);
  expect([...running.cluster.events.objects.values()].map(({ message }) => message)).toEqual([
    'VirtualMachine default/vm-a does not exist, and its addresses stay recorded for it: delete this VirtualMachineNetworkConfig to free them, or create the virtual machine again to keep them',
  ]);
  await running.restart();
  await running.settle(60_000);
  expect(conditionsOf(running, 'vm-a')).toContain('Allocated=True VirtualMachineMissing');

  // One remedy: the virtual machine is created again.
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  expect(conditionsOf(running, 'vm-a')).toEqual(['Disabled=False', 'Allocated=True', 'InSynced=True']);
  expect(running.allocated()).toEqual(both);

  // The other one: the config is deleted.
  await deleteAndOrphan(running, 'vm-a');
  const deleted = running.cluster.networkConfigs.delete('default/vm-a', running.networkConfig('vm-a')?.metadata.uid ?? '');
  await running.settle(10_000);
  await deleted;
  expect(running.networkConfig('vm-a')).toBeUndefined();
  expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });
});

it('the news of the deletion is late: the config gets no owner that is gone, and its address stays', async () => {
  const lateMs = 10_000;
  const running = new Running();
  slowWatch(running, running.cluster.virtualMachines, lateMs);
  await running.add(network(), pool());
  await running.started();
  await running.add(virtualMachine('vm-a'));
  await running.settle(2 * lateMs);
  await deleteAndOrphan(running, 'vm-a');
  expect(running.networkConfig('vm-a')?.metadata.ownerReferences).toEqual([]);
  const collected = running.cluster.collectGarbage();
  await running.settle(2 * lateMs);
  await collected;
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  expect(conditionsOf(running, 'vm-a')).toContain('Allocated=True VirtualMachineMissing');

  // Another one of that name is its owner.
  await running.add(virtualMachine('vm-a'));
  await running.settle(2 * lateMs);
  const uid = running.cluster.virtualMachines.objects.get('default/vm-a')?.metadata.uid;
  expect(running.networkConfig('vm-a')?.metadata.ownerReferences).toEqual([expect.objectContaining({ name: 'vm-a', uid })]);
});

it('a config that a person created without a virtual machine causes no warning', async () => {
  const running = await Running.withPool();
  await running.add({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name: 'printer' },
    spec: { vmName: 'printer', networkConfigs: [{ networkName: 'default/net-1', macAddress: '02:00:00:00:00:77' }] },
  });
  await running.settle();
  await running.restart();
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:77' });
  expect(conditionsOf(running, 'printer')).toEqual(['Disabled=False', 'Allocated=True', 'InSynced=True']);
  expect(running.events()).toEqual([]);
});
