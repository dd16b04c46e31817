import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type EventObject, type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { DhcpController, type DhcpControllerSettings } from '@vmdhcp/reconciler';
import { expect, it } from 'vitest';
import { createControllerMetrics } from './metrics.js';

const POOL: KubernetesObject = {
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'IPPool',
  metadata: { namespace: 'default', name: 'net-48' },
  spec: {
    networkName: 'default/vlan-48',
    ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.1', pool: { start: '10.0.0.10', end: '10.0.0.11' } },
  },
};
const CONFIG: KubernetesObject = {
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'VirtualMachineNetworkConfig',
  metadata: { namespace: 'default', name: 'vm-a' },
  spec: { vmName: 'vm-a', networkConfigs: [{ networkName: 'default/vlan-48', macAddress: '02:00:00:00:00:01' }] },
};

async function running() {
  const clock = new FakeClock();
  const cluster = {
    virtualMachines: new MemoryResource(clock),
    networkConfigs: new MemoryResource(clock),
    ipPools: new MemoryResource(clock),
    networks: new MemoryResource(clock),
    events: new MemoryResource<EventObject>(clock),
  };
  for (const [resource, object] of [
    [cluster.ipPools, POOL],
    [cluster.networkConfigs, CONFIG],
  ] as const) {
    void resource.create(object);
    await clock.advance(10);
  }
  const metrics = createControllerMetrics();
  const clients = Object.entries(Resource).map(
    ([kind, { plural }]) => [plural, cluster[kind as keyof typeof cluster] ?? new MemoryResource(clock)] as const,
  );
  const byPlural = new Map(clients as [string, MemoryResource<KubernetesObject>][]);
  const clientOf = ({ plural }: ApiResource) => byPlural.get(plural) as MemoryResource<KubernetesObject>;
  const caches = new SharedCaches({ open: clientOf, clock, backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 } });
  const controller = new DhcpController({
    caches,
    clientOf: clientOf as DhcpControllerSettings['clientOf'],
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    identity: 'one',
    observer: { onReconciled: metrics.onReconciled },
  });
  metrics.follow(controller, () => true);
  controller.start();
  controller.lead();
  await clock.advance(3_000);
  const series = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcpcontroller_vmnetcfg_status{'));
  return { cluster, clock, series };
}

const LOST = (reason: string) =>
  `vmdhcpcontroller_vmnetcfg_status{vmnetcfg="default/vm-a",network="default/vlan-48",mac="02:00:00:00:00:01",ip="",state="Pending",reason="${reason}"} 1`;

it('an interface whose pool was deleted has no address', async () => {
  const { cluster, clock, series } = await running();
  expect(await series()).toEqual([expect.stringContaining('ip="10.0.0.10",state="Allocated"')]);
  cluster.ipPools.remove('default/net-48');
  await clock.advance(60_000);
  expect(await series()).toEqual([LOST('NoPool')]);
});
