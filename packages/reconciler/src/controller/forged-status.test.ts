import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const OF_VICTIM = '02:00:00:00:00:01';
const OWN = '02:00:00:00:00:09';

/** A tenant's own VirtualMachineNetworkConfig, older than that of vm-v, which runs with 10.0.0.11. */
async function withTenant(): Promise<Running> {
  const running = await Running.withPool();
  running.cluster.networkConfigs.put({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'tenant', name: 'x', uid: 'x', generation: 1, creationTimestamp: '2025-01-01T00:00:00Z' },
    ...claiming(OWN),
  });
  await running.settle();
  await running.add(virtualMachine('vm-v', { interfaces: { nic: [OF_VICTIM, 'net-1'] } }));
  running.startInstance('vm-v', { interfaces: { nic: ['net-1', OF_VICTIM, OF_VICTIM] } });
  await running.settle();
  expect(running.allocated()).toEqual({ '10.0.0.10': OWN, '10.0.0.11': OF_VICTIM });
  return running;
}

const claiming = (macAddress: string) => ({
  spec: { vmName: 'x', networkConfigs: [{ networkName: 'default/net-1', macAddress }] },
});

function write(running: Running, change: (one: KubernetesObject) => Partial<KubernetesObject>): void {
  const stored = running.cluster.networkConfigs.objects.get('tenant/x');
  if (stored === undefined) throw new Error('the config of the tenant is gone');
  const generation = (stored.metadata.generation ?? 1) + 1;
  const changed = { ...stored, ...change(stored) };
  running.cluster.networkConfigs.put({ ...changed, metadata: { ...changed.metadata, generation } });
}

const STATUS_OF_VICTIM = {
  networkConfigs: [{ networkName: 'default/net-1', macAddress: OF_VICTIM, allocatedIPAddress: '10.0.0.11', state: 'Allocated' }],
};

const claim = (running: Running) => write(running, () => ({ ...claiming(OF_VICTIM), status: STATUS_OF_VICTIM }));
const takeAlong = (running: Running) =>
  write(running, ({ metadata }) => {
    const record = { nic: { networkName: 'default/net-1', macAddress: OWN, replaces: [OF_VICTIM] } };
    const annotations = { [INTERFACES_ANNOTATION]: JSON.stringify(record) };
    return { metadata: { ...metadata, annotations }, ...claiming(OWN), status: STATUS_OF_VICTIM };
  });

it.each([
  ['while the controller works', false],
  ['while the controller is away', true],
])(
  'a tenant writes into the status of a VirtualMachineNetworkConfig %s: the running virtual machine keeps its address',
  async (_, isAway) => {
    const running = await withTenant();
    for (const forge of [claim, takeAlong]) {
      if (isAway) void running.controller.stop();
      forge(running);
      if (isAway) await running.restart();
      await running.settle(60_000);
      expect(running.allocated()).toMatchObject({ '10.0.0.11': OF_VICTIM });
      expect(running.conditions('VirtualMachineNetworkConfig', 'vm-v')).toContain('Allocated=True');
    }
  },
);

it('a tenant writes that an address moved to another interface, in one step and while the controller is away: the running virtual machine keeps its address', async () => {
  const running = await withTenant();
  void running.controller.stop();
  takeAlong(running);
  await running.restart();
  await running.settle(60_000);
  expect(running.allocated()).toMatchObject({ '10.0.0.11': OF_VICTIM });
});
