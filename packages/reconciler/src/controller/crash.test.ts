/** Whatever happens to the controller, its writes and its watches: no address has two owners, none leaks, nobody's changes. */

import { describe, expect, it } from 'vitest';
import { readList, readText } from '../object/read-field.js';
import { randomFrom } from '../testing/random-from.js';
import { network, pool, Running, virtualMachine } from './controller-fixtures.js';

const nic = (index: number, net = 'net-1') => [`02:00:00:00:00:${index.toString(16).padStart(2, '0')}`, net] as const;

async function cluster(): Promise<Running> {
  const running = new Running();
  await running.add(network('net-1'), network('net-2'));
  await running.add(
    pool('pool-1', { start: '10.0.0.10', end: '10.0.0.40' }),
    pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.54' }),
  );
  return running.started();
}

/** Virtual machine to the addresses its status says it has. */
function addresses(running: Running): Map<string, string> {
  const found = new Map<string, string>();
  for (const { metadata, status } of running.cluster.networkConfigs.objects.values()) {
    for (const entry of readList(status, 'networkConfigs')) {
      const address = readText(entry, 'allocatedIPAddress');
      if (address !== undefined)
        found.set(`${metadata.uid} ${readText(entry, 'networkName')} ${readText(entry, 'macAddress')}`, address);
    }
  }
  return found;
}

function expectSound(running: Running, before: ReadonlyMap<string, string>): void {
  const claimed = new Set(
    [...running.cluster.networkConfigs.objects.values()].flatMap(({ spec }) =>
      readList(spec, 'networkConfigs').map((entry) => `${readText(entry, 'networkName')} ${readText(entry, 'macAddress')}`),
    ),
  );
  for (const [poolName, net] of [
    ['pool-1', 'default/net-1'],
    ['pool-2', 'default/net-2'],
  ] as const) {
    const owners = Object.values(running.allocated(poolName));
    expect(new Set(owners).size, 'one address for each owner').toBe(owners.length);
    for (const owner of owners) expect(claimed, `${owner} of ${poolName} is leaked`).toContain(`${net} ${owner}`);
  }
  const after = addresses(running);
  for (const [identity, address] of before) {
    if (after.has(identity)) expect(after.get(identity), `${identity} has another address`).toBe(address);
  }
  const machines = [...running.cluster.virtualMachines.objects.values()].map(({ metadata }) => metadata.name).toSorted();
  const configs = [...running.cluster.networkConfigs.objects.values()];
  expect(configs.map(({ metadata }) => metadata.name).toSorted()).toEqual(machines);
  for (const { metadata } of configs) {
    const conditions = running.conditions('VirtualMachineNetworkConfig', metadata.name);
    expect(conditions, metadata.name).toContain('InSynced=True');
    expect(
      conditions.filter((condition) => condition.startsWith('Allocated=')),
      metadata.name,
    ).toHaveLength(1);
  }
}

/** Machines come, change and go; returns what they had in the midst of it. */
async function play(running: Running): Promise<Map<string, string>> {
  await running.add(
    virtualMachine('vm-a', { interfaces: { one: nic(1), two: nic(2, 'net-2') } }),
    virtualMachine('vm-b', { interfaces: { one: nic(3) } }),
  );
  await running.settle(500);
  const before = addresses(running);
  await running.remove('VirtualMachine', 'vm-b');
  await running.add(virtualMachine('vm-c', { interfaces: { one: nic(4), two: nic(5, 'net-2') } }));
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    spec: virtualMachine('vm-a', { interfaces: { one: nic(1), two: nic(6, 'net-2') } }).spec,
  }));
  await running.settle(500);
  return before;
}

/** Everything works again; whatever waited for its turn has it. */
async function heal(running: Running): Promise<void> {
  for (const resource of running.cluster.resources) {
    resource.writeFault = () => 'none';
    resource.failNext = 0;
  }
  const collected = running.cluster.collectGarbage();
  await running.settle(400_000);
  await collected;
}

async function writesOfPlay(): Promise<number> {
  const running = await cluster();
  let writes = 0;
  for (const resource of running.cluster.resources) {
    resource.writeFault = () => {
      writes++;
      return 'none';
    };
  }
  await play(running);
  await heal(running);
  return writes;
}

describe('the controller is killed at every write in turn', () => {
  it.each(['lost-request', 'lost-answer'] as const)('%s', async (fault) => {
    const writes = await writesOfPlay();
    expect(writes).toBeGreaterThan(10);
    for (let killAt = 1; killAt <= writes; killAt++) {
      const running = await cluster();
      let count = 0;
      let restarted: Promise<void> = Promise.resolve();
      for (const resource of running.cluster.resources) {
        resource.writeFault = () => {
          if (++count !== killAt) return 'none';
          restarted = running.restart();
          return fault;
        };
      }
      // What the story itself does may be what fails.
      const before = await play(running).catch(() => new Map<string, string>());
      await restarted;
      await heal(running);
      expectSound(running, before);
    }
  });
});

describe('200 seeds of lost writes, conflicts, dropped watches, forgotten history and restarts', () => {
  it.each(Array.from({ length: 10 }, (_, index) => index * 20))('from seed %i', async (first) => {
    for (let seed = first; seed < first + 20; seed++) await playWithFaults(seed);
  });
});

async function playWithFaults(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const running = await cluster();
  const { resources } = running.cluster;
  let serial = 0;
  for (const resource of resources) {
    resource.writeFault = () => (['lost-request', 'lost-answer', 'conflict'] as const)[random(12)] ?? 'none';
  }
  const known = new Map<string, string>();
  for (let step = 0; step < 25; step++) {
    const names = [...running.cluster.virtualMachines.objects.values()].map(({ metadata }) => metadata.name);
    const some = names[random(Math.max(1, names.length))];
    const index = serial++;
    const interfaces = { one: nic(index), ...(random(2) === 0 && { two: nic(index + 64, 'net-2') }) };
    // The story's own writes are its own affair: only the controller's fail.
    const act = random(9);
    if (act < 3)
      running.cluster.virtualMachines.put({
        ...virtualMachine(`vm-${index}`, { interfaces }),
        metadata: { namespace: 'default', name: `vm-${index}`, uid: `vm-${index}`, generation: 1 },
      });
    else if (act === 3 && some !== undefined) {
      running.cluster.virtualMachines.remove(`default/${some}`);
      void running.cluster.collectGarbage().catch(() => undefined);
    } else if (act === 4 && some !== undefined)
      running.change('VirtualMachine', some, (vm) => ({ ...vm, spec: virtualMachine(some, { interfaces }).spec }));
    else if (act === 5)
      for (const resource of resources) resource.closeWatches((['closed', 'failed', 'expired'] as const)[random(3)]);
    else if (act === 6) for (const resource of resources) resource.compact();
    else if (act === 7) for (const resource of resources) resource.failNext = random(3);
    else await running.restart();
    await running.settle(random(400));
    for (const [identity, address] of addresses(running)) {
      if (known.has(identity)) expect(known.get(identity), `seed ${seed}: ${identity}`).toBe(address);
      else known.set(identity, address);
    }
  }
  for (let round = 0; round < 3; round++) await heal(running);
  expectSound(running, known);
}
