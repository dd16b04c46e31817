/** The inventory of machines for Wake-on-LAN, on the caches of the DHCP controller, whether it is leader or not. */
import { MAC_ADDRESS_ANNOTATION } from '@vmdhcp/ippool-api';
import { SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { cachedParts, cachedPartsWith } from './cached-parts.js';
import { Running } from './controller-fixtures.js';
import { DhcpController } from './dhcp-controller.js';

const [ANNOTATED, CHOSEN] = ['02:00:00:00:00:01', '02:00:00:00:00:02'];

it('a machine on a Multus network keeps the address that KubeVirt chose when it stops, also after a restart of the controller', async () => {
  const running = new Running();
  await running.add(network(), pool(), virtualMachine('vm-a', { interfaces: { nic: [undefined, 'net-1'] } }));
  await running.started();
  running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, CHOSEN] } });
  await running.settle();
  running.stopInstance('vm-a');
  await running.settle();
  await running.restart();
  const { inventory } = running.controller;
  expect([inventory.synced, inventory.get('default/vm-a')?.macAddresses]).toEqual([true, [CHOSEN]]);
});

it('opting out of DHCP makes no difference to Wake-on-LAN', async () => {
  const running = new Running();
  const annotations = {
    'network.harvesterhci.io/dhcp-opt-out': 'true',
    [MAC_ADDRESS_ANNOTATION]: JSON.stringify({ nic: ANNOTATED }),
  };
  await running.add(virtualMachine('vm-a', { annotations, interfaces: { nic: [undefined, 'net-1'] } }));
  await running.started();
  expect(running.controller.inventory.get('default/vm-a')?.macAddresses).toEqual([ANNOTATED]);
});

/** A controller that follows but is not leader, with its own caches. */
function following(isWithLabels: boolean) {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock);
  const { clientOf } = memoryApi({ ...cluster }, clock);
  const caches = new SharedCaches({
    open: clientOf,
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 },
    trim: isWithLabels ? cachedPartsWith({ machineLabels: true }) : cachedParts,
  });
  const settings = { clock, now: () => '2026-01-01T00:00:00Z', random: () => 0.5, identity: 'me' };
  return { clock, cluster, controller: new DhcpController({ caches, clientOf, ...settings }) };
}

it('it is complete without leadership, once machines, instances and configs are listed', async () => {
  const { clock, cluster, controller } = following(true);
  const learned: string[] = [];
  controller.inventory.onSynced(() => learned.push('synced'));
  controller.inventory.onChange((key) => learned.push(key));
  cluster.virtualMachines.put(virtualMachine('vm-a'));
  cluster.networkConfigs.failNext = 1;
  controller.start();
  await clock.advance(50);
  expect([learned, controller.inventory.synced]).toEqual([['default/vm-a'], false]);
  await clock.advance(1_000);
  expect([learned, controller.inventory.synced]).toEqual([['default/vm-a', 'synced'], true]);
  cluster.virtualMachines.remove('default/vm-a');
  await clock.advance(1);
  expect(learned).toEqual(['default/vm-a', 'synced', 'default/vm-a']);
  const [stopping] = [controller.stop(), await clock.advance(10)];
  await stopping;
});

it('a config that is seen later contributes the address that it remembers', async () => {
  const { clock, cluster, controller } = following(false);
  cluster.virtualMachines.put(virtualMachine('vm-a', { interfaces: { nic: [undefined, 'net-1'] } }));
  controller.start();
  await clock.advance(1_000);
  expect(controller.inventory.get('default/vm-a')?.macAddresses).toEqual([]);
  const value = JSON.stringify({ nic: { networkName: 'default/net-1', macAddress: CHOSEN } });
  const annotations = { 'network.harvesterhci.io/interfaces': value };
  cluster.networkConfigs.put({ metadata: { namespace: 'default', name: 'vm-a', annotations } });
  await clock.advance(10);
  expect(controller.inventory.get('default/vm-a')?.macAddresses).toEqual([CHOSEN]);
  const [stopping] = [controller.stop(), await clock.advance(10)];
  await stopping;
});

it.each([
  [true, { wake: 'yes' }],
  [false, {}],
])('labels are cached on request: %s', async (isWithLabels, labels) => {
  const { clock, cluster, controller } = following(isWithLabels);
  const machine = virtualMachine('vm-a');
  cluster.virtualMachines.put({ ...machine, metadata: { ...machine.metadata, labels: { wake: 'yes' } } });
  controller.start();
  await clock.advance(1_000);
  expect(controller.inventory.get('default/vm-a')?.labels).toEqual(labels);
  const [stopping] = [controller.stop(), await clock.advance(10)];
  await stopping;
});
