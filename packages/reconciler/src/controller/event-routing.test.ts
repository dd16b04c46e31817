/** Which keys a change enqueues, and which not. */
import type { ApiResource, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { SETTINGS } from '../view/agents-fixtures.js';
import { Running } from './controller-fixtures.js';
import type { ControllerObserver } from './controller-observer.js';
import { DhcpController } from './dhcp-controller.js';

async function following(more: ControllerObserver = {}) {
  const reconciled = new Set<string>();
  const running = new Running({ onReconciled: ({ kind, key }) => reconciled.add(`${kind} ${key}`), ...more });
  await running.add(network(), network('net-2'), pool(), virtualMachine('vm-a'));
  await running.started();
  reconciled.clear();
  return { running, reconciled };
}

describe('a change enqueues', () => {
  it('the virtual machine of a config that another client changed, because it decides the content', async () => {
    const { running, reconciled } = await following();
    running.change('VirtualMachineNetworkConfig', 'vm-a', (one) => ({
      ...one,
      metadata: { ...one.metadata, labels: { a: 'b' } },
    }));
    await running.settle(100);
    expect([...reconciled]).toContain('virtualMachines default/vm-a');
  });

  it('for a pool, the other pools on its network, and the network', async () => {
    const { running, reconciled } = await following();
    await running.add(pool('pool-2', { start: '10.0.0.50', end: '10.0.0.59' }));
    await running.settle();
    reconciled.clear();
    running.change('IPPool', 'pool-2', (one) => ({ ...one, metadata: { ...one.metadata, labels: { a: 'b' } } }));
    await running.settle(100);
    expect([...reconciled]).toEqual(
      expect.arrayContaining(['ipPools default/pool-2', 'ipPools default/pool-1', 'networks default/net-1']),
    );
  });

  it('for an unrelated virtual machine: nothing of the others', async () => {
    const { running, reconciled } = await following();
    await running.add(virtualMachine('vm-b', { interfaces: {} }));
    await running.settle(100);
    expect([...reconciled]).toEqual(['virtualMachines default/vm-b']);
  });
});

describe('a pool with many claims', () => {
  it('rests between two writes for as long as the write took, so that claims gather', async () => {
    const { running } = await following();
    const { clock, cluster } = running;
    const writtenAtMs: number[] = [];
    cluster.ipPools.onWritten = (what) => void (what === 'patchStatus' && writtenAtMs.push(clock.nowMs()));
    for (const name of ['vm-b', 'vm-c', 'vm-d', 'vm-e', 'vm-f', 'vm-g']) {
      cluster.virtualMachines.put({ ...virtualMachine(name), metadata: { ...virtualMachine(name).metadata, uid: name } });
      await clock.advance(1);
    }
    await running.settle(1_000);
    expect(Object.keys(running.allocated())).toHaveLength(7);
    const pausesMs = writtenAtMs.slice(1).map((atMs, index) => atMs - (writtenAtMs[index] ?? 0));
    // A write takes two milliseconds, and so does the rest.
    for (const pauseMs of pausesMs) expect(pauseMs).toBeGreaterThanOrEqual(4);
  });
});

describe('the reports of failures', () => {
  it('a conflict is not one, because a newer version is on its way', async () => {
    const retries: string[] = [];
    const { running } = await following({ onRetry: (kind, _, { reason }) => retries.push(`${kind} ${reason}`) });
    const faults = ['conflict', 'lost-request'] as const;
    let writes = 0;
    running.cluster.ipPools.writeFault = () => faults[writes++] ?? 'none';
    await running.add(virtualMachine('vm-b'));
    await running.settle();
    expect(writes).toBeGreaterThan(2);
    expect(retries).toEqual(['ipPools unexpected-error']);
  });
});

describe('the watches of a controller', () => {
  function subscribed(more: Partial<ConstructorParameters<typeof DhcpController>[0]>) {
    const clock = new FakeClock();
    const cluster = new MemoryCluster(clock);
    const api = memoryApi({ ...cluster }, clock);
    const resources: ApiResource[] = [];
    const subscribe: SharedCaches['subscribe'] = (resource, listener) => {
      resources.push(resource);
      return api.caches.subscribe(resource, listener);
    };
    const now = () => '2026-01-01T00:00:00Z';
    const controller = new DhcpController({
      ...api,
      caches: { subscribe },
      clock,
      now,
      random: () => 0.5,
      identity: 'c',
      ...more,
    });
    return { controller, clock, cluster, resources };
  }

  it.each([undefined, 'tenant'])('objects of namespace %s; agents in their own namespace', (onlyNamespace) => {
    const { resources } = subscribed({ onlyNamespace, agents: SETTINGS });
    const inNamespace = (namespace: string | undefined) =>
      resources.filter((one) => one.namespace === namespace).map(({ plural }) => plural);
    expect(inNamespace(onlyNamespace).toSorted()).toEqual([
      'ippools',
      'network-attachment-definitions',
      'virtualmachineinstances',
      'virtualmachinenetworkconfigs',
      'virtualmachines',
    ]);
    expect(inNamespace('agents').toSorted()).toEqual(['deployments', 'deployments', 'leases', 'pods']);
  });

  it('is not ready before everything is listed, agents included', async () => {
    const { controller, clock, cluster } = subscribed({ agents: SETTINGS });
    expect(controller.unready()).toEqual([
      'not listed yet: networks, ipPools, networkConfigs, virtualMachines, virtualMachineInstances, agents',
    ]);
    cluster.ipPools.failNext = 1;
    controller.start();
    await clock.advance(10);
    expect([controller.unready(), controller.synced]).toEqual([['not listed yet: ipPools'], false]);
    await clock.advance(1_000);
    expect([controller.unready(), controller.synced]).toEqual([[], true]);
    const stopping = controller.stop();
    await clock.advance(10);
    await stopping;
  });
});
