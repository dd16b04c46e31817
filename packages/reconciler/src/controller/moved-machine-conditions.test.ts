/** What KubeVirt says while a machine waits for its migration, and what others write meanwhile: the guest keeps its address, and no longer. */
import { expect, it } from 'vitest';
import type { Running } from './controller-fixtures.js';
import { afterAnotherWants, HELD, MAC, machineOn, move, putSecondInstance, runningMachine } from './moved-machine-fixtures.js';

const annotate = (running: Running, annotations: Record<string, string>) =>
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations } }));
async function stillOwned(running: Running) {
  await running.settle(20_000);
  expect(await afterAnotherWants(running)).toEqual(HELD);
}

it('a machine that was restarted while its pin could not be read, and then moved, keeps the address of its guest', async () => {
  const running = await runningMachine();
  annotate(running, { 'network.kubevirt.io/addresses': '{"nic":["ten"]}' });
  await running.settle();
  running.stopInstance('vm-a');
  await running.settle(500);
  putSecondInstance(running, 'net-1');
  running.change('VirtualMachineInstance', 'vm-a', (v) => v);
  await running.settle(20_000);
  expect(running.allocated('pool-1')).toEqual(HELD);
  move(running, machineOn('net-2'));
  await running.settle();
  await stillOwned(running);
});

it('a forged time in the far future keeps the former address for an hour at most', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  await running.settle();
  const uid = running.cluster.virtualMachineInstances.objects.get('default/vm-a')?.metadata.uid;
  running.change('VirtualMachineNetworkConfig', 'vm-a', (c) => ({
    ...c,
    metadata: {
      ...c.metadata,
      annotations: {
        ...c.metadata.annotations,
        'network.harvesterhci.io/leaving-networks': JSON.stringify({
          [`default/net-1 ${MAC}`]: { since: '9999-01-01T00:00:00Z', instance: uid },
        }),
      },
    },
  }));
  await running.settle(4 * 3_600_000);
  expect([running.allocated('pool-1'), running.networkConfig('vm-a')?.metadata.annotations]).toEqual([
    {},
    expect.not.objectContaining({ 'network.harvesterhci.io/leaving-networks': expect.anything() }),
  ]);
});

it('a migration that fails after more than an hour does not free the address, though KubeVirt says a moment later that it requires one', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  const status = (s: object) =>
    running.change('VirtualMachineInstance', 'vm-a', (vmi) => {
      const { conditions: _, ...rest } = vmi.status as { conditions?: unknown };
      return { ...vmi, status: { ...rest, ...s } };
    });
  const required = { conditions: [{ type: 'MigrationRequired', status: 'True' }] };
  status(required);
  await running.settle(5_400_000);
  status({ migrationState: { migrationUid: 'm1' } });
  await running.settle(60_000);
  status({ migrationState: { migrationUid: 'm1', completed: true, failed: true, endTimestamp: '2026-01-01T01:31:00Z' } });
  await running.settle(2_000);
  status(required);
  await stillOwned(running);
});

it('a migration that is pending for a moment, because an interface is plugged in too, does not free the address', async () => {
  const running = await runningMachine();
  move(running, machineOn('net-2'));
  const condition = (status: string) =>
    running.change('VirtualMachineInstance', 'vm-a', (vmi) => ({
      ...vmi,
      status: { ...(vmi.status as object), conditions: [{ type: 'MigrationRequired', status, reason: 'AutoMigrationPending' }] },
    }));
  condition('True');
  await running.settle(5_400_000);
  expect(running.allocated('pool-1')).toEqual(HELD);
  condition('False');
  await running.settle(15_000);
  condition('True');
  await stillOwned(running);
});

it('a forged annotation gives no address on a network where the machine never was', async () => {
  const running = await runningMachine();
  const forged = '02:00:00:00:00:66';
  const uid = running.cluster.virtualMachineInstances.objects.get('default/vm-a')?.metadata.uid;
  const forge = (annotations: Record<string, string>) =>
    running.change('VirtualMachineNetworkConfig', 'vm-a', (c) => ({
      ...c,
      metadata: { ...c.metadata, annotations: { ...c.metadata.annotations, ...annotations } },
      spec: {
        ...(c.spec as object),
        networkConfigs: [
          ...(c.spec as { networkConfigs: object[] }).networkConfigs,
          { networkName: 'default/net-2', macAddress: forged },
        ],
      },
    }));
  forge({});
  await running.settle(60_000);
  expect(running.allocated('pool-2'), 'without the annotation').toEqual({});
  forge({
    'network.harvesterhci.io/leaving-networks': JSON.stringify({
      [`default/net-2 ${forged}`]: { since: '9999-01-01T00:00:00Z', instance: uid },
    }),
  });
  await running.settle(24 * 3_600_000);
  expect(running.allocated('pool-2'), 'with it').toEqual({});
});
