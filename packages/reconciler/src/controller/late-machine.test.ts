/** Late events of virtual machines must not damage their VirtualMachineNetworkConfigs. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';
import { slowWatch } from './slow-watch-fixtures.js';

const LATE_MS = 60_000;
const OF_PRINTER: KubernetesObject = {
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'VirtualMachineNetworkConfig',
  metadata: { namespace: 'default', name: 'printer' },
  spec: { vmName: 'printer', networkConfigs: [{ networkName: 'default/net-2', macAddress: '02:00:00:00:00:77' }] },
};
const FIRST = { one: ['02:00:00:00:00:01', 'net-1'] } as const;
const BOTH = { ...FIRST, two: ['02:00:00:00:00:02', 'net-2'] } as const;

it.each([
  ['it had one before', FIRST],
  ['it had none before', {}],
])('vm-a got an interface and restarts, and the known state is older (%s): it keeps its address', async (_, before) => {
  const running = new Running();
  slowWatch(running, running.cluster.virtualMachines, LATE_MS);
  await running.add(network(), network('net-2'), pool());
  await running.add(pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.50' }));
  await running.started();
  await running.add(virtualMachine('vm-a', { interfaces: before }));
  await running.settle(2 * LATE_MS);

  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: virtualMachine('vm-a', { interfaces: BOTH }).spec }));
  const interfaces = { one: ['net-1', BOTH.one[0]], two: ['net-2', BOTH.two[0]] } as const;
  running.startInstance('vm-a', { interfaces });
  await running.settle();
  await running.add(OF_PRINTER);
  await running.settle();
  const ofMachine = { '10.0.0.50': '02:00:00:00:00:02' };
  expect(running.allocated('pool-2')).toEqual(ofMachine);
  running.stopInstance('vm-a');
  await running.settle();
  running.startInstance('vm-a', { interfaces });
  await running.settle();
  expect(running.allocated('pool-2')).toEqual(ofMachine);
  await running.settle(2 * LATE_MS);
  expect(running.allocated('pool-2')).toEqual(ofMachine);

  // It loses the interface for good.
  running.stopInstance('vm-a');
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: virtualMachine('vm-a', { interfaces: before }).spec }));
  await running.settle(2 * LATE_MS);
  expect(running.allocated('pool-2')).toEqual({ '10.0.0.50': '02:00:00:00:00:77' });
});

it('the news that an instance has ended arrives when the next one runs: the machine keeps its addresses', async () => {
  const running = new Running();
  await running.add(network(), network('net-2'), pool());
  await running.add(pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.50' }));
  slowWatch(running, running.cluster.virtualMachineInstances, LATE_MS);
  await running.started();
  await running.add(virtualMachine('vm-a', { interfaces: FIRST }));
  running.startInstance('vm-a', { interfaces: { one: ['net-1', FIRST.one[0]] } });
  await running.settle(LATE_MS / 2);
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: virtualMachine('vm-a', { interfaces: BOTH }).spec }));
  running.stopInstance('vm-a');
  running.startInstance('vm-a', { interfaces: { one: ['net-1', BOTH.one[0]], two: ['net-2', BOTH.two[0]] } });
  await running.settle();
  await running.add(OF_PRINTER);
  await running.settle();
  const ofMachine = { '10.0.0.50': '02:00:00:00:00:02' };
  expect(running.allocated('pool-2')).toEqual(ofMachine);
  for (let waitedMs = 0; waitedMs < 2 * LATE_MS; waitedMs += 5_000) {
    await running.settle(5_000);
    expect(running.allocated('pool-2')).toEqual(ofMachine);
  }
});

it('a manual edit of a config stays while its virtual machine is read from the API server', async () => {
  const running = await Running.withPool();
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  const { virtualMachines } = running.cluster;
  const { get } = virtualMachines;
  let asked = 0;
  (virtualMachines as { get: typeof get }).get = async (key) => {
    const machine = await get(key);
    if (asked++ > 0) return machine;
    running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
      ...config,
      spec: {
        vmName: 'vm-a',
        networkConfigs: [{ networkName: 'default/net-1', macAddress: '02:00:00:00:00:0a', ipAddress: '10.0.0.16' }],
      },
    }));
    return machine;
  };
  running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
    ...config,
    metadata: { ...config.metadata, ownerReferences: [] },
    spec: {
      vmName: 'vm-a',
      networkConfigs: [
        { networkName: 'default/net-1', macAddress: '02:00:00:00:00:0a' },
        { networkName: 'default/net-1', macAddress: '02:00:00:00:00:99' },
      ],
    },
  }));
  await running.settle(10_000);
  expect(asked).toBeGreaterThan(0);
  expect(running.allocated()).toEqual({ '10.0.0.16': '02:00:00:00:00:0a' });
});

it('an address that a person writes in place of an annotation stays, however late the news of the removed annotation arrives', async () => {
  const running = new Running();
  slowWatch(running, running.cluster.virtualMachines, LATE_MS);
  await running.add(network(), pool());
  await running.started();
  await running.add(virtualMachine('vm-a', { annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.12' } }));
  await running.settle(2 * LATE_MS);
  const macAddress = '02:00:00:00:00:0a';
  expect(running.allocated()).toEqual({ '10.0.0.12': macAddress });
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations: {} } }));
  running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
    ...config,
    spec: { vmName: 'vm-a', networkConfigs: [{ networkName: 'default/net-1', macAddress, ipAddress: '10.0.0.16' }] },
  }));
  await running.settle(LATE_MS / 2);
  expect(running.allocated()).toEqual({ '10.0.0.16': macAddress });
  await running.settle(2 * LATE_MS);
  expect(running.allocated()).toEqual({ '10.0.0.16': macAddress });
});

it('an API server whose news is late receives fewer and fewer requests', async () => {
  const running = new Running();
  slowWatch(running, running.cluster.virtualMachines, LATE_MS);
  await running.add(network(), network('net-2'), pool());
  await running.add(pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.50' }));
  await running.started();
  await running.add(virtualMachine('vm-a', { interfaces: FIRST }));
  await running.settle(2 * LATE_MS);
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: virtualMachine('vm-a', { interfaces: BOTH }).spec }));
  running.startInstance('vm-a', { interfaces: { one: ['net-1', BOTH.one[0]], two: ['net-2', BOTH.two[0]] } });
  await running.settle();
  const { virtualMachines } = running.cluster;
  const { get } = virtualMachines;
  let reads = 0;
  (virtualMachines as { get: typeof get }).get = (key) => {
    reads += 1;
    return get(key);
  };
  running.stopInstance('vm-a');
  await running.settle(LATE_MS - 10_000);
  expect(reads).toBeGreaterThan(2);
  // Every two seconds these would be 25.
  expect(reads).toBeLessThan(10);
});
