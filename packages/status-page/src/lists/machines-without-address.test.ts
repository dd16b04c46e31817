import { setImmediate } from 'node:timers/promises';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { SECTIONS } from '../model/page-data.js';
import { MachinesWithoutAddress } from './machines-without-address.js';

const COUNT = 200;
const NONE = { synced: true, get: () => undefined, values: () => [] };

/** Counts how often each virtual machine is read; its interface is on a network that does not exist. */
function setUp() {
  const networks = [{ name: 'nic', multus: { networkName: 'default/none' } }];
  const machine = (index: number): KubernetesObject => {
    const interfaces = [{ name: 'nic', macAddress: `02:00:00:00:00:${index.toString(16).padStart(2, '0')}` }];
    const spec = { template: { spec: { domain: { devices: { interfaces } }, networks } } };
    return { metadata: { namespace: 'default', name: `vm-${index}`, uid: `${index}` }, spec } as unknown as KubernetesObject;
  };
  const machines = new Map(Array.from({ length: COUNT }, (_, index) => [`default/vm-${index}`, machine(index)]));
  const reads = { count: 0 };
  const time = { nowMs: 0 };
  const get = (key: string) => {
    reads.count++;
    return machines.get(key);
  };
  const caches = {
    ...{ virtualMachineInstances: NONE, networkConfigs: NONE, networks: NONE, ipPools: NONE, leases: NONE },
    virtualMachines: { synced: true, get, values: () => machines.values() },
  };
  return { list: new MachinesWithoutAddress({ caches, wallTimeMs: () => time.nowMs }), reads, time };
}

const query = { limit: 5, offset: 0, sections: new Set(SECTIONS) };

it('requests within a second share one run, and later requests start a new one', async () => {
  const { list, reads, time } = setUp();
  const pause = () => setImmediate();
  const pages = await Promise.all([1, 2, 3].map(() => list.page({ ...query, pause })));
  const once = reads.count;
  time.nowMs = 999;
  expect([...pages, await list.page({ ...query, pause })]).toEqual(Array.from({ length: 4 }, () => pages[0]));
  expect(reads.count).toBe(once);
  time.nowMs = 1_000;
  await list.page({ ...query, pause });
  expect(reads.count).toBe(2 * once);
});

it('the next request starts a run that failed again', async () => {
  const { list } = setUp();
  await expect(list.page({ ...query, pause: () => Promise.reject(new Error('a bug')) })).rejects.toThrow('a bug');
  expect((await list.page({ ...query, pause: () => setImmediate() })).rows).toHaveLength(5);
});

it('only a few virtual machines are explained between two pauses', async () => {
  const { list, reads } = setUp();
  const slices: number[] = [];
  let before = 0;
  const pause = async () => {
    slices.push(reads.count - before);
    before = reads.count;
  };
  await list.page({ ...query, pause });
  expect(Math.max(...slices, reads.count - before)).toBeLessThan(COUNT / 2);
});
