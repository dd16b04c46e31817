/** Events about hosts that use addresses of others. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { EventRecorder, formatTime, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { NO_CLUSTER_NETWORKS } from '../admission/admission-facts.js';
import { NOTHING_KNOWN_OF_AGENTS } from '../agents/pool-agents.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import type { ObservedUse } from '../pool/observed-use.js';
import { ClusterView } from '../view/cluster-view.js';
import type { ControllerContext } from './controller-context.js';
import { PoolReconciler } from './pool-reconciler.js';
import { agentWarnings } from './pool-warnings.js';

const mac = (n: number) => `02:00:00:00:${(n >> 8).toString(16).padStart(2, '0')}:${(n & 255).toString(16).padStart(2, '0')}`;
const FIRST = parseIpv4Address('10.0.0.10') as number;

/** A pool whose agents report these uses. */
function cluster(machines: readonly KubernetesObject[]) {
  const clock = new FakeClock();
  const written: KubernetesObject[] = [];
  let uses: readonly ObservedUse[] = [];
  const source = (...objects: readonly KubernetesObject[]) => {
    const byKey = new Map(objects.map((one) => [keyOf(one), one]));
    return { get: (key: string) => byKey.get(key), values: () => byKey.values(), wrote: () => undefined };
  };
  const caches = {
    ...{ virtualMachines: source(...machines), networks: source(network()), ipPools: source(pool()), networkConfigs: source() },
  };
  const view = new ClusterView(caches);
  view.notePool('default/pool-1');
  for (const machine of machines) view.noteVirtualMachine(keyOf(machine));
  const now = () => formatTime(Date.parse('2026-01-01T00:00:00Z') + clock.nowMs());
  const create = async (object: KubernetesObject) => {
    written.push(object);
    return { ok: true, object } as const;
  };
  const events = new EventRecorder({
    ...{ clock, now, random: () => 0.5, component: 'test', instance: 'test' },
    client: { create, patch: create } as never,
  });
  const agents = () => ({ ...NOTHING_KNOWN_OF_AGENTS, observedUses: uses });
  const context = {
    ...{
      caches,
      view,
      events,
      now,
      plans: new Map(),
      lastOwners: new Map(),
      unrecordedPlans: new Map(),
      releaseWaiters: new Map(),
      clusterNetworks: NO_CLUSTER_NETWORKS,
    },
    clients: { ipPools: { patchStatus: async () => ({ ok: false, reason: 'conflict', message: '' }) } },
    segments: { sharedBy: () => undefined },
    agents: { ofPool: agents, ofPoolForStatus: agents, isInUse: () => false },
    enqueue: { ipPools: () => undefined, networkConfigs: () => undefined },
  } as unknown as ControllerContext;
  const reconciler = new PoolReconciler(context);
  const report = async (reported: readonly ObservedUse[], ms: number) => {
    uses = reported;
    await reconciler.reconcile('default/pool-1');
    await events.flush();
    await clock.advance(ms);
  };
  return { report, events, written };
}
const machineOf = (name: string, n: number) => virtualMachine(name, { interfaces: { nic: [mac(n), 'net-1'] } });

it('a hostile guest that answers with ever new MAC addresses does not use up the Events of all others', async () => {
  const { report, events } = cluster(Array.from({ length: 64 }, (_, n) => machineOf(`vm-${n}`, n)));
  for (let minute = 1; minute <= 10; minute++) {
    const uses = Array.from({ length: 64 }, (_, n) => ({
      address: FIRST + n,
      usedBy: mac(minute * 256 + n),
      assignedTo: mac(n),
    }));
    await report(uses, 60_000);
  }
  expect(events.dropped).toBe(0);
});

it('a machine with two interfaces on a network is not told that another machine uses its address', async () => {
  const both = virtualMachine('vm-a', { interfaces: { one: [mac(1), 'net-1'], two: [mac(2), 'net-1'] } });
  const { report, written } = cluster([both]);
  await report([{ address: FIRST, usedBy: mac(2), assignedTo: mac(1) }], 1_000);
  expect(written).toEqual([]);
});

it('a stopped machine of another tenant with a copied MAC address learns nothing about the address of its owner', async () => {
  const copy = { ...machineOf('copy', 1), metadata: { namespace: 'tenant', name: 'copy' } };
  const interfaces = { nic: [mac(1), 'default/net-1'] as const };
  const { report, written } = cluster([machineOf('vm-a', 1), { ...virtualMachine('', { interfaces }), metadata: copy.metadata }]);
  await report([{ address: FIRST, usedBy: mac(2), assignedTo: mac(1) }], 1_000);
  expect(written.filter(({ metadata }) => metadata.namespace === 'tenant')).toEqual([]);
});

it('an Event names IPv6 addresses that machines declined', () => {
  const declinedIpv6 = [{ address: '2001:db8:48::11', macAddress: mac(1) }];
  expect(agentWarnings({ ...NOTHING_KNOWN_OF_AGENTS, declinedIpv6 })).toEqual([
    {
      reason: 'DuplicateAddressDetected',
      message: `machines declined their IPv6 addresses, because other hosts use them: 2001:db8:48::11 of ${mac(1)}; give those hosts other addresses`,
    },
  ]);
  expect(agentWarnings(NOTHING_KNOWN_OF_AGENTS)).toEqual([]);
});

it.each([
  ['RogueRouter', 1],
  ['NoRouter', 0],
  ['RouterSaysNoManaged', 0],
] as const)('the reason %s of RouterReady is %i Events', (reason, count) => {
  const conditions = [{ type: 'RouterReady', status: 'False', reason, message: 'x' }] as const;
  expect(agentWarnings({ ...NOTHING_KNOWN_OF_AGENTS, conditions })).toHaveLength(count);
});
