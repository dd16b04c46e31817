import { virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

it('a change that the CRD refuses is not tried continuously', async () => {
  const running = await Running.withPool();
  const { networkConfigs } = running.cluster;
  const { patch } = networkConfigs;
  Object.assign(networkConfigs, {
    patch: async (...[target, change]: Parameters<typeof patch>) => {
      const stored = networkConfigs.objects.get(target.key) as KubernetesObject;
      const spec = { ...(stored.spec as object), ...((change['spec'] as object | undefined) ?? {}) };
      if (virtualMachineNetworkConfigResource.schema.safeParse({ spec }).success) return patch(target, change);
      await new Promise<void>((resolve) => running.clock.after(2, resolve));
      return { ok: false, reason: 'invalid', message: 'spec.networkConfigs[1].networkName: Too long: may not be longer than 64' };
    },
  });
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  const long = `fleet-local-production-workloads/${'a'.repeat(40)}`;
  let writes = 0;
  networkConfigs.writeFault = () => {
    writes++;
    return 'none';
  };
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    spec: virtualMachine('vm-a', { interfaces: { nic: ['02:00:00:00:00:0a', 'net-1'], two: ['02:00:00:00:00:02', long] } }).spec,
  }));
  await running.settle(60_000);
  expect(writes, 'status writes in a minute').toBeLessThan(10);
});
