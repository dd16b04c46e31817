/** A person deletes the VirtualMachineNetworkConfig of a machine that runs: nobody else gets the address that its guest uses. */
import { expect, it, vi } from 'vitest';
import { instance, network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const MAC = '02:00:00:00:00:0a';
const LEAVING = 'network.harvesterhci.io/leaving-networks';
const HELD = { '10.0.0.10': MAC };
const machineOn = (net: string) => virtualMachine('vm-a', { interfaces: { nic: [MAC, net] } });

async function cluster(): Promise<Running> {
  const running = new Running();
  running.hasWallClock = true;
  for (const n of [1, 2])
    await running.add(
      network(`net-${n}`),
      pool(`pool-${n}`, { network: `default/net-${n}`, start: '10.0.0.10', end: '10.0.0.10' }),
    );
  await running.started();
  await running.add(machineOn('net-1'));
  running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
  await running.settle();
  expect(running.allocated('pool-1')).toEqual(HELD);
  return running;
}
/** KubeVirt changes the instance; its guest moves later. */
function move(running: Running, net: string): void {
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: machineOn(net).spec }));
  running.change('VirtualMachineInstance', 'vm-a', (vmi) => {
    const { networks } = (machineOn(net).spec as { template: { spec: { networks: unknown } } }).template.spec;
    return { ...vmi, spec: { ...(vmi.spec as object), networks } };
  });
}
const deleteConfig = (running: Running) => running.remove('VirtualMachineNetworkConfig', 'vm-a');
const removeWithoutFinalizer = (running: Running) => running.cluster.networkConfigs.remove('default/vm-a');
async function anotherWants(running: Running, wait = 60_000) {
  await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }));
  await running.settle(wait);
  return running.allocated('pool-1');
}

it('while the machine waits for its migration: a new one has both networks', async () => {
  const running = await cluster();
  move(running, 'net-2');
  await running.settle();
  await deleteConfig(running);
  await running.settle();
  expect(await anotherWants(running)).toEqual(HELD);
  expect(running.allocated('pool-2')).toEqual(HELD);
  expect(running.networkConfig('vm-a')?.metadata.annotations).toHaveProperty([LEAVING]);
  await running.settle(4_000_000);
  expect(running.allocated('pool-1'), 'an hour later').toEqual({ '10.0.0.10': '02:00:00:00:00:0b' });
});

it('in the moment of the change, before anything about it was written', async () => {
  const running = await cluster();
  move(running, 'net-2');
  await deleteConfig(running);
  await running.settle();
  expect(await anotherWants(running)).toEqual(HELD);
});

it('together with its finalizer, while the controller is away', async () => {
  const running = await cluster();
  move(running, 'net-2');
  await running.settle();
  void running.controller.stop();
  removeWithoutFinalizer(running);
  await running.restart();
  expect(await anotherWants(running)).toEqual(HELD);
});

it('while its wanted address cannot be read', async () => {
  const running = await cluster();
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, annotations: { 'network.kubevirt.io/addresses': '{"nic":["ten"]}' } },
  }));
  await running.settle();
  await deleteConfig(running);
  await running.settle();
  expect(await anotherWants(running)).toEqual(HELD);
});

/** The API server refuses to create another one for now. */
async function deleteForLong(running: Running, name: string): Promise<void> {
  const refused = { ok: false, reason: 'forbidden', message: 'a quota' } as const;
  vi.spyOn(running.cluster.networkConfigs, 'create').mockResolvedValue(refused);
  running.cluster.networkConfigs.remove(`default/${name}`);
  await running.settle(5_000);
}

it('and the machine stops: the former address is free at once', async () => {
  const running = await cluster();
  move(running, 'net-2');
  await running.settle();
  await deleteForLong(running, 'vm-a');
  expect(running.allocated('pool-1')).toEqual(HELD);
  running.stopInstance('vm-a');
  await running.settle(5_000);
  expect(running.allocated('pool-1')).toEqual({});
});

it('a machine elsewhere with the same MAC address keeps nothing of a machine that was deleted', async () => {
  const running = await cluster();
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
  const running = await cluster();
  running.change('VirtualMachineInstance', 'vm-a', (vmi) => ({
    ...vmi,
    spec: { ...(vmi.spec as object), networks: [{ name: 'nic', pod: {} }] },
  }));
  running.change('VirtualMachine', 'vm-a', (vm) => {
    const { template } = vm.spec as { template: { spec: object } };
    return {
      ...vm,
      spec: { ...(vm.spec as object), template: { spec: { ...template.spec, networks: [{ name: 'nic', pod: {} }] } } },
    };
  });
  await running.settle();
  await deleteConfig(running);
  await running.settle();
  expect(await anotherWants(running)).toEqual(HELD);
});

it('while another instance is reported that the controller has not seen', async () => {
  const running = await cluster();
  move(running, 'net-2');
  await running.settle();
  const seen = running.cluster.virtualMachineInstances.objects.get('default/vm-a');
  expect(seen).toBeDefined();
  running.cluster.virtualMachineInstances.put(
    instance('vm-a', { interfaces: { nic: ['net-2', MAC, MAC] }, ownerUid: 'another' }),
  );
  await deleteConfig(running);
  await running.settle();
  expect(await anotherWants(running)).toEqual(HELD);
});
