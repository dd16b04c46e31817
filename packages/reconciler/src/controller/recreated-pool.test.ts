/** A pool is deleted and created again, as its own messages recommend: machines that run keep their addresses. */
import { describe, expect, it } from 'vitest';
import { pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const mac = (name: string) => `02:00:00:00:00:0${name.at(-1)}`;
const pause = (running: Running, name: string, paused: boolean) =>
  running.change('VirtualMachineNetworkConfig', name, (config) => ({
    ...config,
    spec: { ...(config.spec as object), paused },
  }));

async function recreate(running: Running): Promise<void> {
  await running.remove('IPPool', 'pool-1');
  await running.settle(60_000);
  await running.add(pool('pool-1', { start: '10.0.0.10', end: '10.0.0.20' }));
  await running.settle(60_000);
}

describe('a pool that is created again', () => {
  it('gives an address to the machine that has it now, not to an older one that had it once', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': mac('vm-a') });
    pause(running, 'vm-a', true);
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    await running.settle();
    running.startInstance('vm-b', { interfaces: { nic: ['net-1', mac('vm-b'), mac('vm-b')] } });
    await running.settle();
    pause(running, 'vm-a', false);
    await running.settle(60_000);
    expect(running.allocated(), 'vm-b runs with it').toEqual({ '10.0.0.10': mac('vm-b') });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=False PoolExhausted');

    await recreate(running);
    expect(running.allocated()).toMatchObject({ '10.0.0.10': mac('vm-b') });
  });

  it('gives a shared MAC address to the machine that runs with it, not to an older stopped machine of another namespace that has copied it', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.20' });
    const OF_VICTIM = '02:00:00:00:00:0b';
    // Older than the victim, and without an interface on the network of the victim.
    const config = {
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'VirtualMachineNetworkConfig',
      metadata: { namespace: 'tenant', name: 'x', uid: 'x', generation: 1, creationTimestamp: '2025-01-01T00:00:00Z' },
      spec: { vmName: 'x', networkConfigs: [{ networkName: 'tenant/other', macAddress: '02:00:00:00:00:99' }] },
    };
    running.cluster.networkConfigs.put(config);
    await running.settle();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.add(virtualMachine('vm-b', { interfaces: { nic: [OF_VICTIM, 'net-1'] } }));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-a');
    running.startInstance('vm-b', { interfaces: { nic: ['net-1', OF_VICTIM, OF_VICTIM] } });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.11': OF_VICTIM });

    // Only the spec: a tenant who may not write statuses can do this.
    const stored = running.cluster.networkConfigs.objects.get('tenant/x');
    running.cluster.networkConfigs.put({
      ...config,
      metadata: { ...(stored?.metadata ?? config.metadata), generation: 2 },
      status: stored?.status,
      spec: { vmName: 'x', networkConfigs: [{ networkName: 'default/net-1', macAddress: OF_VICTIM }] },
    });
    await running.settle(60_000);
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-b'), 'before the pool is deleted').toContain('Allocated=True');
    await recreate(running);
    await running.add(virtualMachine('vm-c'));
    await running.settle(60_000);
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-b')).toContain('Allocated=True');
    expect(running.allocated()).toMatchObject({ '10.0.0.11': OF_VICTIM });
  });
});
