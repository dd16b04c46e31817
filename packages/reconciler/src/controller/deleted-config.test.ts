/** A person deletes the VirtualMachineNetworkConfig of a machine that runs: nobody else gets the address that its guest uses. */
import { describe, expect, it, vi } from 'vitest';
import { instance, virtualMachine } from '../fixtures/object-fixtures.js';
import type { Running } from './controller-fixtures.js';
import { afterAnotherWants, HELD, MAC, machineOn, move, networks, OTHER_MAC, runningMachine } from './moved-machine-fixtures.js';

const LEAVING = 'network.harvesterhci.io/leaving-networks';
const toPodNetwork = () => {
  const { spec, ...machine } = machineOn('net-1');
  const { template } = spec as { template: { spec: object } };
  return {
    ...machine,
    spec: { ...(spec as object), template: { spec: { ...template.spec, networks: [{ name: 'nic', pod: {} }] } } },
  };
};
const deleteConfig = (running: Running) => running.remove('VirtualMachineNetworkConfig', 'vm-a');
const removeWithoutFinalizer = (running: Running) => running.cluster.networkConfigs.remove('default/vm-a');

it('while the machine waits for its migration: a new one has both networks', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  await running.settle();
  await deleteConfig(running);
  await running.settle();
  expect(await afterAnotherWants(running)).toEqual(HELD);
  expect(running.allocated('pool-2')).toEqual(HELD);
  expect(running.networkConfig('vm-a')?.metadata.annotations).toHaveProperty([LEAVING]);
  await running.settle(4_000_000);
  expect(running.allocated('pool-1'), 'an hour later').toEqual({ '10.0.0.10': OTHER_MAC });
});

it('in the moment of the change, before anything about it was written', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  await deleteConfig(running);
  await running.settle();
  expect(await afterAnotherWants(running)).toEqual(HELD);
});

it('together with its finalizer, while the controller is away', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  await running.settle();
  void running.controller.stop();
  removeWithoutFinalizer(running);
  await running.restart();
  expect(await afterAnotherWants(running)).toEqual(HELD);
});

describe('or changes it', () => {
  const entry = (n: number) => ({ networkName: `default/net-${n}`, macAddress: `02:00:00:00:01:0${n}` });

  it('to another network while the controller is away: the address of its guest stays', async () => {
    const running = await runningMachine();
    void running.controller.stop();
    running.change('VirtualMachineNetworkConfig', 'vm-a', ({ spec, ...config }) => ({
      ...config,
      spec: { ...(spec as object), networkConfigs: [{ networkName: 'default/net-2', macAddress: MAC }] },
    }));
    const records: unknown[] = [];
    running.cluster.ipPools.onWritten = () => records.push(running.allocated('pool-1'));
    await running.restart();
    await running.settle(60_000);
    expect(records.length).toBeGreaterThan(0);
    expect(records).toEqual(records.map(() => HELD));
  });

  it('to an interface for which it had no room: the address of the other one is free', async () => {
    const running = await networks(5);
    const nics = [1, 2, 3, 4, 5].map((n) => [`nic${n}`, [entry(n).macAddress, `net-${n}`] as const] as const);
    await running.add(virtualMachine('vm-a', { interfaces: Object.fromEntries(nics) }));
    await running.settle(20_000);
    expect(running.allocated('pool-4')).toEqual({ '10.0.0.10': entry(4).macAddress });
    running.change('VirtualMachineNetworkConfig', 'vm-a', ({ spec, ...config }) => ({
      ...config,
      spec: { ...(spec as object), networkConfigs: [1, 2, 3, 5].map(entry) },
    }));
    await running.settle(60_000);
    expect([running.allocated('pool-4'), running.allocated('pool-5')]).toEqual([{}, { '10.0.0.10': entry(5).macAddress }]);
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('InSynced=True');
  });

  it('to another MAC address of a machine that does not run and has none of its own: it has one address', async () => {
    const running = await networks(1);
    await running.add(virtualMachine('vm-a', { interfaces: { nic: [undefined, 'net-1'] } }));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, MAC] } });
    await running.settle(20_000);
    running.stopInstance('vm-a');
    await running.settle(20_000);
    expect(running.allocated('pool-1')).toEqual(HELD);
    running.change('VirtualMachineNetworkConfig', 'vm-a', (config) =>
      JSON.parse(JSON.stringify({ ...config, status: undefined }).replaceAll(MAC, OTHER_MAC)),
    );
    await running.settle(60_000);
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': OTHER_MAC });
  });
});

it('while its wanted address cannot be read', async () => {
  const running = await runningMachine();
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, annotations: { 'network.kubevirt.io/addresses': '{"nic":["ten"]}' } },
  }));
  await running.settle();
  await deleteConfig(running);
  await running.settle();
  expect(await afterAnotherWants(running)).toEqual(HELD);
});

/** The API server refuses to create another one for now. */
async function deleteForLong(running: Running, name: string): Promise<void> {
  const refused = { ok: false, reason: 'forbidden', message: 'a quota' } as const;
  vi.spyOn(running.cluster.networkConfigs, 'create').mockResolvedValue(refused);
  running.cluster.networkConfigs.remove(`default/${name}`);
  await running.settle(5_000);
}

it('and the machine stops: the former address is free at once', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  await running.settle();
  await deleteForLong(running, 'vm-a');
  expect(running.allocated('pool-1')).toEqual(HELD);
  running.stopInstance('vm-a');
  await running.settle(5_000);
  expect(running.allocated('pool-1')).toEqual({});
});

it('a machine elsewhere with the same MAC address keeps nothing of a machine that was deleted', async () => {
  const running = await runningMachine();
  await running.add(virtualMachine('vm-z', { interfaces: { nic: [MAC, 'net-2'] } }));
  running.startInstance('vm-z', { interfaces: { nic: ['net-2', MAC, MAC] } });
  await running.settle();
  await deleteForLong(running, 'vm-z');
  running.cluster.virtualMachineInstances.remove('default/vm-a');
  running.cluster.networkConfigs.remove('default/vm-a');
  await running.remove('VirtualMachine', 'vm-a');
  await running.settle(5_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, HELD]);
});

it('while the guest moves to the pod network', async () => {
  const running = await runningMachine();
  move(running, toPodNetwork());
  await running.settle();
  await deleteConfig(running);
  await running.settle();
  expect(await afterAnotherWants(running)).toEqual(HELD);
});

it('while another instance is reported that the controller has not seen', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  await running.settle();
  const seen = running.cluster.virtualMachineInstances.objects.get('default/vm-a');
  expect(seen).toBeDefined();
  running.cluster.virtualMachineInstances.put(
    instance('vm-a', { interfaces: { nic: ['net-2', MAC, MAC] }, ownerUid: 'another' }),
  );
  await deleteConfig(running);
  await running.settle();
  expect(await afterAnotherWants(running)).toEqual(HELD);
});

it('an address is free an hour after its guest has moved to the pod network, where it needs no other', async () => {
  const running = await runningMachine();
  move(running, toPodNetwork());
  await running.settle();
  expect(running.allocated('pool-1')).toEqual(HELD);
  for (let hour = 0; hour < 6; hour++) await running.settle(3_700_000);
  expect(running.allocated('pool-1'), 'after six hours').toEqual({});
  expect(running.networkConfig('vm-a')).toBeUndefined();
});
