/** KubeVirt gives a running machine another network, and its guest stays on the former one until a migration: nobody else gets its address. */
import { expect, it } from 'vitest';
import { instance, network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const macOf = (nic: string) => `02:00:00:00:02:0${nic.slice(-1)}`;
const machine = (nets: Record<string, string>, annotations = {}) =>
  virtualMachine('vm-a', {
    annotations,
    interfaces: Object.fromEntries(Object.entries(nets).map(([nic, net]) => [nic, [macOf(nic), net] as const])),
  });
const runs = (nets: Record<string, string>) => ({
  interfaces: Object.fromEntries(Object.entries(nets).map(([nic, net]) => [nic, [net, macOf(nic), macOf(nic)] as const])),
});
async function cluster(): Promise<Running> {
  const running = new Running();
  running.hasWallClock = true;
  for (let n = 1; n <= 5; n++)
    await running.add(
      network(`net-${n}`),
      pool(`pool-${n}`, { network: `default/net-${n}`, start: '10.0.0.10', end: '10.0.0.10' }),
    );
  return running.started();
}
function move(running: Running, nets: Record<string, string>): void {
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: machine(nets).spec }));
  running.change('VirtualMachineInstance', 'vm-a', (vmi) => {
    const { networks } = (machine(nets).spec as { template: { spec: { networks: unknown } } }).template.spec;
    return { ...vmi, spec: { ...(vmi.spec as object), networks } };
  });
}
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
  move(running, { ...before, nic1: 'net-5' });
  await running.settle(20_000);
  await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }));
  await running.settle(20_000);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('a migration whose pod was made before the change does not free the address of the guest', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  move(running, { nic1: 'net-5' });
  await running.settle();
  migration(running, { migrationUid: 'm1' });
  await running.settle();
  migration(running, { migrationUid: 'm1', completed: true });
  await running.settle(20_000);
  await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }));
  await running.settle(20_000);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('a pin that cannot be read during the move does not free the address of the guest', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  move(running, { nic1: 'net-5' });
  await running.settle();
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, annotations: { 'network.kubevirt.io/addresses': '{"nic1":["ten"]}' } },
  }));
  await running.settle(20_000);
  await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }));
  await running.settle(20_000);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('a controller that starts anew during the move does not free the address of the guest', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  move(running, { nic1: 'net-5' });
  await running.settle();
  await running.restart();
  await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }));
  await running.settle(20_000);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': macOf('nic1') });
});

it('another machine with the same MAC address comes to the former network and goes, and the address stays', async () => {
  const running = await cluster();
  await running.add(machine({ nic1: 'net-1' }));
  running.startInstance('vm-a', runs({ nic1: 'net-1' }));
  await running.settle();
  move(running, { nic1: 'net-5' });
  await running.settle();
  await running.add(virtualMachine('vm-z', { interfaces: { nic: [macOf('nic1'), 'net-1'] } }));
  await running.settle(20_000);
  await running.remove('VirtualMachine', 'vm-z');
  await running.settle(20_000);
  await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }));
  await running.settle(20_000);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': macOf('nic1') });
});

const MAC = '02:00:00:00:00:0a';
const machineOn = (net: string) => virtualMachine('vm-a', { interfaces: { nic: [MAC, net] } });
const runsOn = (net: string) => ({ interfaces: { nic: [net, MAC, MAC] as const } });

async function restartable(): Promise<Running> {
  const running = new Running();
  running.hasWallClock = true;
  for (let n = 1; n <= 2; n++)
    await running.add(
      network(`net-${n}`),
      pool(`pool-${n}`, { network: `default/net-${n}`, start: '10.0.0.10', end: '10.0.0.10' }),
    );
  await running.started();
  await running.add(machineOn('net-1'));
  running.startInstance('vm-a', runsOn('net-1'));
  await running.settle();
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': MAC });
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: machineOn('net-2').spec })); // RestartRequired: the instance stays on net-1
  await running.settle();
  return running;
}
function newInstance(running: Running): void {
  const ownerUid = running.cluster.virtualMachines.objects.get('default/vm-a')?.metadata.uid ?? '';
  const made = instance('vm-a', { ...runsOn('net-2'), ownerUid });
  running.cluster.virtualMachineInstances.put({ ...made, metadata: { ...made.metadata, uid: 'second-instance' } });
}

it('a restart onto another network frees the former address, though KubeVirt says all the time that an instance is there', async () => {
  const running = await restartable();
  running.cluster.virtualMachineInstances.remove('default/vm-a');
  await running.settle(500);
  newInstance(running);
  await running.settle(120_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, { '10.0.0.10': MAC }]);
});

it('a restart onto another network while the controller is away frees the former address within the hour', async () => {
  const running = await restartable();
  void running.controller.stop();
  await running.settle(500);
  running.cluster.virtualMachineInstances.remove('default/vm-a');
  newInstance(running);
  await running.restart();
  await running.settle(3_700_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, { '10.0.0.10': MAC }]);
});

it('a restart onto another network frees the former address at once if the controller sees that nothing runs', async () => {
  const running = await restartable();
  running.stopInstance('vm-a');
  await running.settle();
  running.startInstance('vm-a', runsOn('net-2'));
  await running.settle(120_000);
  expect([running.allocated('pool-1'), running.allocated('pool-2')]).toEqual([{}, { '10.0.0.10': MAC }]);
});
