import { expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { isBeingDeleted } from '../object/kubernetes-object.js';
import { readField, readList, readText } from '../object/read-field.js';
import type { MemoryResource } from '../testing/memory-resource.js';
import { randomFrom } from '../testing/random-from.js';
import { network, pool, Running, virtualMachine } from './controller-fixtures.js';

function slowWatch(running: Running, resource: MemoryResource<KubernetesObject>, delay: () => number): void {
  const { watch } = resource;
  (resource as { watch: typeof watch }).watch = (version, handlers) => {
    let stopped = false;
    let at = 0;
    const later = (run: () => void) => {
      at = Math.max(at, running.clock.nowMs() + delay());
      running.clock.after(at - running.clock.nowMs(), () => !stopped && run());
    };
    const stop = watch(version, {
      onEvent: (event) => later(() => handlers.onEvent(event)),
      onEnd: (end) => later(() => handlers.onEnd(end)),
    });
    return () => {
      stopped = true;
      stop();
    };
  };
}

const mac = (n: number) => `02:00:00:00:00:${n.toString(16).padStart(2, '0')}`;
const CHANGES = process.env['VMDHCP_STORIES_CHANGES'] !== 'no';
const SEEDS = Number(process.env['VMDHCP_STORIES'] ?? 100);
const FIRST = Number(process.env['VMDHCP_STORIES_FIRST'] ?? 0);

async function play(seed: number): Promise<string[]> {
  const random = randomFrom(seed);
  const running = new Running();
  const { cluster } = running;
  const faults: string[] = [];
  const lag = random(3) === 0 ? 0 : 20;
  if (lag > 0) for (const resource of cluster.resources) slowWatch(running, resource, () => random(lag));
  await running.add(network('net-1'), network('net-2'), network('net-3'));
  const pools: Record<string, KubernetesObject> = {
    'pool-1': pool('pool-1', { end: '10.0.0.14' }),
    'pool-2': pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.53' }),
    'pool-3': pool('pool-3', { network: 'default/net-3', start: '10.0.0.60', end: '10.0.0.69' }),
  };
  await running.add(...Object.values(pools));
  await running.started();
  if (seed % 4 === 3)
    for (const resource of cluster.resources)
      resource.writeFault = () => (['lost-request', 'lost-answer', 'conflict'] as const)[random(12)] ?? 'none';
  let serial = 0;
  const nics = () => {
    const some: Record<string, [string, string]> = {};
    for (const net of ['net-1', 'net-2', 'net-3']) if (random(2) === 0) some[net] = [mac(++serial % 250), net];
    return Object.keys(some).length === 0 ? { one: [mac(++serial % 250), 'net-1'] as [string, string] } : some;
  };
  for (let step = 0; step < 20; step++) {
    const names = [...cluster.virtualMachines.objects.values()].map(({ metadata }) => metadata.name);
    const some = names[random(Math.max(1, names.length))];
    const poolName = `pool-${1 + random(3)}`;
    const act = random(seed % 2 === 0 ? 12 : 15);
    if (act < 4) {
      const name = `vm-${++serial}`;
      cluster.virtualMachines.put({
        ...virtualMachine(name, { interfaces: nics() }),
        metadata: { namespace: 'default', name, uid: name, generation: 1 },
      });
    } else if (act === 4 && some !== undefined) {
      cluster.virtualMachines.remove(`default/${some}`);
      void cluster.collectGarbage().catch(() => undefined);
    } else if (act === 5 && some !== undefined && CHANGES) {
      running.change('VirtualMachine', some, (vm) => ({ ...vm, spec: virtualMachine(some, { interfaces: nics() }).spec }));
    } else if (act === 12 && some !== undefined) {
      // Made anew under the same name, at once, or with a while between.
      cluster.virtualMachines.remove(`default/${some}`);
      if (random(2) === 0) await running.settle(random(40));
      const mine = virtualMachine(some, { interfaces: nics() });
      cluster.virtualMachines.put({ ...mine, metadata: { ...mine.metadata, uid: `${some}-${++serial}`, generation: 1 } });
      if (random(2) === 0) void cluster.collectGarbage().catch(() => undefined);
    } else if (act === 13) {
      const key = 'default/pool-1b';
      if (cluster.ipPools.objects.has(key)) cluster.ipPools.remove(key);
      else
        cluster.ipPools.put({
          ...pool('pool-1b', { start: '10.0.0.100', end: '10.0.0.109' }),
          metadata: {
            namespace: 'default',
            name: 'pool-1b',
            uid: `b-${++serial}`,
            generation: 1,
            creationTimestamp: `2026-01-0${1 + random(3)}T00:00:30Z`,
          },
        });
    } else if (act === 14 && cluster.ipPools.objects.has(`default/${poolName}`)) {
      running.change('IPPool', poolName, (one) => {
        const spec = one.spec as { ipv4Config: Record<string, unknown> };
        const choice = [
          { leaseTime: random(1000) + 60 },
          { cidr: random(2) === 0 ? 'nonsense' : '10.0.0.0/24' },
          { reservations: [{ macAddress: mac(200 + random(5)), ipAddress: `10.0.0.${150 + random(5)}` }] },
        ][random(3)];
        return { ...one, spec: { ...spec, ipv4Config: { ...spec.ipv4Config, ...choice } } };
      });
    } else if (act === 6) {
      if (cluster.ipPools.objects.has(`default/${poolName}`))
        running.change('IPPool', poolName, (one) => ({ ...one, spec: { ...(one.spec as object), paused: random(2) === 0 } }));
    } else if (act === 7) {
      if (cluster.ipPools.objects.has(`default/${poolName}`)) cluster.ipPools.remove(`default/${poolName}`);
      else
        cluster.ipPools.put({
          ...(pools[poolName] as KubernetesObject),
          metadata: {
            namespace: 'default',
            name: poolName,
            uid: `again-${++serial}`,
            generation: 1,
            creationTimestamp: `2026-01-02T00:00:${String(serial % 60).padStart(2, '0')}Z`,
          },
        });
    } else if (act === 8 && some !== undefined && cluster.networkConfigs.objects.has(`default/${some}`)) {
      running.change('VirtualMachineNetworkConfig', some, (config) => ({
        ...config,
        spec: { ...(config.spec as object), paused: random(2) === 0 },
      }));
    } else if (act === 9 && some !== undefined) {
      const stored = cluster.networkConfigs.objects.get(`default/${some}`);
      if (stored !== undefined)
        void cluster.networkConfigs.delete(`default/${some}`, stored.metadata.uid ?? '').catch(() => undefined);
    } else if (act === 10) {
      for (const resource of cluster.resources) resource.closeWatches((['closed', 'failed', 'expired'] as const)[random(3)]);
      if (random(2) === 0) for (const resource of cluster.resources) resource.compact();
    } else await running.restart();
    await running.settle(random(60));
  }
  for (const resource of cluster.resources) resource.writeFault = () => 'none';
  void cluster.collectGarbage();
  await running.settle(60_000);
  void cluster.collectGarbage();
  await running.settle(60_000);
  let writes = 0;
  for (const resource of cluster.resources) {
    resource.writeFault = () => {
      writes++;
      return 'none';
    };
  }
  await running.settle(60_000);
  if (writes > 0) faults.push(`${writes} writes in a minute in which nothing happens`);

  faults.push(...check(running));
  if (faults.length === 0) return [];
  await running.restart();
  await running.settle(60_000);
  const left = check(running);
  return faults.map((fault) => `${left.includes(fault) ? '' : 'GONE AFTER A RESTART '}${fault}`);
}

/** What is not as it should be, by what is stored. */
function check(running: Running): string[] {
  const { cluster } = running;
  const faults: string[] = [];
  const claimed = new Map<string, string>();
  for (const config of cluster.networkConfigs.objects.values()) {
    if (isBeingDeleted(config)) faults.push(`${config.metadata.name} is still being deleted`);
    if (readField(config.spec, 'paused') === true) continue;
    for (const entry of readList(config.spec, 'networkConfigs'))
      claimed.set(`${readText(entry, 'networkName')} ${readText(entry, 'macAddress')}`, config.metadata.name);
  }
  for (const vm of cluster.virtualMachines.objects.values()) {
    const config = cluster.networkConfigs.objects.get(`default/${vm.metadata.name}`);
    if (config === undefined) {
      faults.push(`${vm.metadata.name} has no vmnetcfg`);
      continue;
    }
    const wanted = readList(vm.spec, 'template', 'spec', 'networks').length;
    if (readList(config.spec, 'networkConfigs').length !== wanted) faults.push(`${vm.metadata.name} is not in sync`);
  }
  const free = new Map<string, number>();
  const serving = new Map<string, KubernetesObject>();
  for (const one of [...cluster.ipPools.objects.values()].toSorted((a, b) =>
    `${a.metadata.creationTimestamp} ${a.metadata.name}`.localeCompare(`${b.metadata.creationTimestamp} ${b.metadata.name}`),
  )) {
    const net = readText(one.spec, 'networkName') ?? '';
    if (!serving.has(net)) serving.set(net, one);
  }
  const broken = new Set(
    [...serving].flatMap(([net, { spec }]) => (readText(spec, 'ipv4Config', 'cidr') === 'nonsense' ? [net] : [])),
  );
  for (const { metadata, spec, status } of serving.values()) {
    const net = readText(spec, 'networkName');
    if (broken.has(net ?? '')) continue;
    const reserved = new Set(readList(spec, 'ipv4Config', 'reservations').map((one) => readText(one, 'macAddress')));
    free.set(net ?? '', readField(spec, 'paused') === true ? 0 : Number(readField(status, 'ipv4', 'available')));
    const owners = Object.values(running.allocated(metadata.name));
    if (new Set(owners).size !== owners.length) faults.push(`${metadata.name}: a MAC twice`);
    for (const owner of owners)
      if (!claimed.has(`${net} ${owner}`) && !reserved.has(owner)) faults.push(`${metadata.name}: ${owner} is leaked`);
    if (reserved.size === 0 && readField(status, 'ipv4', 'used') !== owners.length)
      faults.push(`${metadata.name}: used is ${readField(status, 'ipv4', 'used')}, not ${owners.length}`);
  }
  const addressOf = (net: string, owner: string) => {
    const one = broken.has(net) ? undefined : serving.get(net);
    return one === undefined
      ? undefined
      : Object.entries(running.allocated(one.metadata.name)).find(([, value]) => value === owner)?.[0];
  };
  for (const config of cluster.networkConfigs.objects.values()) {
    if (readField(config.spec, 'paused') === true || isBeingDeleted(config)) continue;
    const entries = readList(config.spec, 'networkConfigs').map((entry) => ({
      net: readText(entry, 'networkName') ?? '',
      owner: readText(entry, 'macAddress') ?? '',
    }));
    if (entries.some(({ net }) => broken.has(net))) continue;
    const lacking = entries.filter(({ net, owner }) => free.has(net) && addressOf(net, owner) === undefined);
    if (lacking.length > 0 && lacking.every(({ net }) => (free.get(net) ?? 0) > 0))
      faults.push(`${config.metadata.name} could have ${lacking.map(({ net }) => net).join()} and does not`);
    for (const { net, owner } of entries) {
      const said = readList(config.status, 'networkConfigs').find((entry) => readText(entry, 'macAddress') === owner);
      const isAllocated = readText(said, 'state') === 'Allocated';
      if ((isAllocated ? readText(said, 'allocatedIPAddress') : undefined) !== addressOf(net, owner))
        faults.push(
          `${config.metadata.name} says ${readText(said, 'allocatedIPAddress')} for ${net}, the pool ${addressOf(net, owner)}`,
        );
    }
    const isAllocated = running.conditions('VirtualMachineNetworkConfig', config.metadata.name).includes('Allocated=True');
    if (entries.some(({ net }) => broken.has(net))) continue;
    const served = entries.filter(({ net }) => free.has(net));
    if (served.length > 0 && isAllocated !== (lacking.length === 0))
      faults.push(`${config.metadata.name}: Allocated is ${isAllocated}, ${lacking.length} are lacking`);
  }
  return faults;
}

it('whatever happens, in the end everything is as it should be', async () => {
  const found: string[] = [];
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    const faults = await play(seed);
    if (faults.length > 0) found.push(`seed ${seed}: ${faults.join('; ')}`);
  }
  expect(found).toEqual([]);
}, 120_000);
