/** KubeVirt gives a running machine another network, and its guest stays on the former one until a migration: nobody else gets its address. */
import { expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import type { Running } from './controller-fixtures.js';
import {
  afterAnotherWants,
  HELD,
  machineOn,
  move,
  networks,
  OTHER_MAC,
  putSecondInstance,
  runningMachine,
  runsOn,
} from './moved-machine-fixtures.js';

const macOf = (nic: string) => `02:00:00:00:02:0${nic.slice(-1)}`;
const machine = (nets: Record<string, string>, annotations = {}) =>
  virtualMachine('vm-a', {
    annotations,
    interfaces: Object.fromEntries(Object.entries(nets).map(([nic, net]) => [nic, [macOf(nic), net] as const])),
  });
const runs = (nets: Record<string, string>) => ({
  interfaces: Object.fromEntries(Object.entries(nets).map(([nic, net]) => [nic, [net, macOf(nic), macOf(nic)] as const])),
});
const cluster = () => networks(5);
const moveTo = (running: Running, nets: Record<string, string>) => move(running, machine(nets));
const migration = (running: Running, state: object) =>
  running.change('VirtualMachineInstance', 'vm-a', (vmi) => ({
    ...vmi,
    status: { ...(vmi.status as object), migrationState: state },
  }));

it('a machine with four interfaces, one of which is moved, keeps the address that its guest uses', async () => {
  const running = await cluster();
  const before = { nic1: 'net-1', nic2: 'net-2', nic3: 'net-3', nic4: 'net-4' };
  await running.add(machine(before));
  running.startInstance('vm-a', runs(before));
  await running.settle();
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': macOf('nic1') });
  moveTo(running, { ...before, nic1: 'net-5' });
  await running.settle(20_000);
  expect(await afterAnotherWants(running, 20_000)).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('a migration whose pod was made before the change does not free the address of the guest', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  moveTo(running, { nic1: 'net-5' });
  await running.settle();
  migration(running, { migrationUid: 'm1' });
  await running.settle();
  migration(running, { migrationUid: 'm1', completed: true });
  await running.settle(20_000);
  expect(await afterAnotherWants(running, 20_000)).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('a pin that cannot be read during the move does not free the address of the guest', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  moveTo(running, { nic1: 'net-5' });
  await running.settle();
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, annotations: { 'network.kubevirt.io/addresses': '{"nic1":["ten"]}' } },
  }));
  await running.settle(20_000);
  expect(await afterAnotherWants(running, 20_000)).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('a controller that starts anew during the move does not free the address of the guest', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  moveTo(running, { nic1: 'net-5' });
  await running.settle();
  await running.restart();
  expect(await afterAnotherWants(running, 20_000)).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('another machine with the same MAC address comes to the former network and goes, and the address stays', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  moveTo(running, { nic1: 'net-5' });
  await running.settle();
  await running.add(virtualMachine('vm-z', { interfaces: { nic: [macOf('nic1'), 'net-1'] } }));
  await running.settle(20_000);
  await running.remove('VirtualMachine', 'vm-z');
  await running.settle(20_000);
  expect(await afterAnotherWants(running, 20_000)).toEqual({ '10.0.0.10': macOf('nic1') });
});

/** Its template was changed, which takes effect with its next start. */
async function restartable(): Promise<Running> {
  const running = await runningMachine();
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: machineOn('net-2').spec }));
  await running.settle();
  return running;
}

it('a restart onto another network frees the former address, though KubeVirt says all the time that an instance is there', async () => {
  const running = await restartable();
  running.cluster.virtualMachineInstances.remove('default/vm-a');
  await running.settle(500);
  putSecondInstance(running, 'net-2');
  await running.settle(120_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, HELD]);
});

it('a restart onto another network while the controller is away frees the former address within the hour', async () => {
  const running = await restartable();
  void running.controller.stop();
  await running.settle(500);
  running.cluster.virtualMachineInstances.remove('default/vm-a');
  putSecondInstance(running, 'net-2');
  await running.restart();
  await running.settle(3_700_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, HELD]);
});

it('a restart onto another network frees the former address at once if the controller sees that nothing runs', async () => {
  const running = await restartable();
  running.stopInstance('vm-a');
  await running.settle();
  running.startInstance('vm-a', runsOn('net-2'));
  await running.settle(120_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, HELD]);
});

it('a machine that had no address on the network it is leaving gets those of its other networks at once, and no new one there', async () => {
  const running = await cluster();
  await running.add(virtualMachine('vm-b', { interfaces: { nic: [OTHER_MAC, 'net-1'] } }));
  const nets = { nic1: 'net-1', nic3: 'net-3' };
  await running.add(machine(nets));
  running.startInstance('vm-a', runs(nets));
  await running.settle();
  expect(running.allocated('pool-3'), 'all of its addresses or none').toEqual({});
  moveTo(running, { ...nets, nic1: 'net-2' });
  await running.settle();
  expect([running.allocated('pool-2'), running.allocated('pool-3')]).toEqual([
    { '10.0.0.10': macOf('nic1') },
    { '10.0.0.10': macOf('nic3') },
  ]);
  expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
  await running.remove('VirtualMachine', 'vm-b');
  await running.settle(20_000);
  expect(running.allocated('pool-1'), 'free for machines that are there').toEqual({});
});
