/**
 * Stories by seed: virtual machines, instances, pools and people do whatever they can, watches lag and break, writes are lost, and
 * the controller is killed. The same seed tells the same story. In the end everything is as it should be.
 */
import { isBeingDeleted, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

import { type MemoryResource, type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import { type InstanceText, network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
import { Running } from './controller-fixtures.js';
import { expectedInterfaces, findDoubleOwners, Holdings, other, type ServingPool, type StoryFault } from './story-fixtures.js';

const NETWORKS = ['net-1', 'net-2', 'net-3'] as const;
const STEPS = 25;
const LAG_MS = 20;

type Nics = Readonly<Record<string, readonly [macAddress: string | undefined, network: string]>>;
/** Something that happens. */
type Act = (story: Story) => void | Promise<void>;

class Story {
  readonly running = new Running();
  readonly random: Random;
  readonly pools: Readonly<Record<string, KubernetesObject>>;
  readonly holdings: Holdings;
  readonly faults: StoryFault[] = [];
  #serial = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
    this.pools = {
      'pool-1': pool('pool-1', { end: '10.0.0.12' }),
      'pool-2': pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.51' }),
      'pool-3': pool('pool-3', { network: 'default/net-3', start: '10.0.0.60', end: '10.0.0.64' }),
    };
    this.holdings = new Holdings(this.running, (net) => this.poolOn(net));
  }

  look(): void {
    this.faults.push(...this.holdings.look());
  }

  get cluster(): Running['cluster'] {
    return this.running.cluster;
  }

  next(): number {
    return ++this.#serial;
  }

  mac(): string {
    const serial = this.next();
    return `02:00:00:00:${octet(serial >> 8)}:${octet(serial & 255)}`;
  }

  /** One of those that exist. */
  machine(): KubernetesObject | undefined {
    const machines = [...this.cluster.virtualMachines.objects.values()];
    return machines[this.random(Math.max(1, machines.length))];
  }

  poolName(): string {
    return `pool-${1 + this.random(3)}`;
  }

  /** Interfaces of a machine to be; `isPlain`: without MAC addresses, as KubeVirt chooses them. */
  nics(isPlain = false): Nics {
    const mac = () => (isPlain ? undefined : this.mac());
    const some = NETWORKS.filter(() => this.random(2) === 0);
    return Object.fromEntries((some.length === 0 ? (['net-1'] as const) : some).map((net) => [net, [mac(), net] as const]));
  }

  putMachine(name: string, interfaces: Nics, uid: string): void {
    const made = virtualMachine(name, { interfaces });
    this.cluster.virtualMachines.put({ ...made, metadata: { ...made.metadata, uid, generation: 1 } });
  }

  removeMachine(name: string): void {
    this.running.stopInstance(name);
    this.cluster.virtualMachines.remove(`default/${name}`);
  }

  collectGarbage(): void {
    // Its own writes may be what fails.
    void this.cluster.collectGarbage().catch(() => undefined);
  }

  poolOn(net: string): ServingPool {
    const serving = servingPools(this.running).get(net);
    const record = serving === undefined ? {} : this.running.allocated(serving.metadata.name);
    return { uid: serving?.metadata.uid, record };
  }
}

function octet(value: number): string {
  return value.toString(16).padStart(2, '0');
}

/** The interfaces of a machine's template, as they are written. */
function nicsOf(machine: KubernetesObject): Nics {
  const template = readField(machine.spec, 'template', 'spec');
  const asked = new Map(
    readList(template, 'domain', 'devices', 'interfaces').map((one) => [readText(one, 'name'), readText(one, 'macAddress')]),
  );
  return Object.fromEntries(
    readList(template, 'networks').map((one) => {
      const name = readText(one, 'name') ?? '';
      return [name, [asked.get(name), readText(one, 'multus', 'networkName') ?? ''] as const];
    }),
  );
}

const createMachine: Act = (story) => {
  const name = `vm-${story.next()}`;
  story.putMachine(name, story.nics(), name);
};

const createPlainMachine: Act = (story) => {
  const name = `vm-${story.next()}`;
  story.putMachine(name, story.nics(true), name);
};

const deleteMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  story.removeMachine(machine.metadata.name);
  story.collectGarbage();
};

const changeMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const isPlain = Object.values(nicsOf(machine)).some(([macAddress]) => macAddress === undefined);
  const interfaces = story.nics(isPlain);
  story.running.change('VirtualMachine', machine.metadata.name, (vm) => ({
    ...vm,
    spec: virtualMachine(machine.metadata.name, { interfaces }).spec,
  }));
};

/** Made anew under the same name, at once, or with a while between; with the same interfaces, as a backup has them, or others. */
const remakeMachine: Act = async (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const { name } = machine.metadata;
  const interfaces = story.random(2) === 0 ? nicsOf(machine) : story.nics();
  story.removeMachine(name);
  if (story.random(2) === 0) await story.running.settle(story.random(40));
  story.putMachine(name, interfaces, `${name}-${story.next()}`);
  if (story.random(2) === 0) story.collectGarbage();
};

/** A copy has the MAC addresses that the machine has now: on the same networks, or each on another one. */
const copyMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const name = `vm-${story.next()}`;
  const shift = story.random(2);
  const interfaces = expectedInterfaces(story.running, machine).map((one) => {
    const index = NETWORKS.findIndex((net) => one.network === `default/${net}`);
    return [one.name, [one.macAddress, NETWORKS[(index + shift) % NETWORKS.length] ?? 'net-1'] as const] as const;
  });
  story.putMachine(name, Object.fromEntries(interfaces), name);
};

/** One MAC address on two networks of one machine. */
const shareAcrossNetworks: Act = (story) => {
  const name = `vm-${story.next()}`;
  const mac = story.mac();
  story.putMachine(name, { one: [mac, 'net-1'], two: [mac, 'net-2'] }, name);
};

/** MAC addresses that the template names, and others that KubeVirt chooses. */
function instanceTextOf(story: Story, machine: KubernetesObject): InstanceText {
  const isReported = story.random(4) > 0;
  const interfaces = Object.entries(nicsOf(machine)).map(([nic, [macAddress, net]]) => {
    const reported = isReported ? (macAddress ?? story.mac()) : undefined;
    return [nic, [net, macAddress, reported] as const] as const;
  });
  return { interfaces: Object.fromEntries(interfaces) };
}

const startInstance: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const { name } = machine.metadata;
  story.running.stopInstance(name);
  story.running.startInstance(name, instanceTextOf(story, machine));
};

const endInstance: Act = (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  if (!story.cluster.virtualMachineInstances.objects.has(`default/${name}`)) return;
  const how = story.random(3);
  if (how === 0) story.running.stopInstance(name);
  else {
    story.running.change('VirtualMachineInstance', name, (one) => ({
      ...one,
      ...(how === 1 && { metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      ...(how === 2 && { status: { ...(one.status as object), phase: 'Succeeded' } }),
    }));
  }
};

/** The template changes while the instance shuts down, which uses its addresses until the end. */
const changeWhileShuttingDown: Act = async (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  if (!story.cluster.virtualMachineInstances.objects.has(`default/${name}`)) return;
  story.running.change('VirtualMachineInstance', name, (one) => ({
    ...one,
    metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }));
  const interfaces = story.nics();
  story.running.change('VirtualMachine', name, (vm) => ({ ...vm, spec: virtualMachine(name, { interfaces }).spec }));
  await story.running.settle(story.random(200));
};

/** A machine is copied while it runs; then KubeVirt chooses another MAC address for the next instance. */
const copyThenRestart: Act = async (story) => {
  const { running } = story;
  const [name, copy, mac, nextMac] = [`vm-${story.next()}`, `vm-${story.next()}`, story.mac(), story.mac()];
  const net = NETWORKS[story.random(3)] ?? 'net-1';
  story.putMachine(name, { nic: [undefined, net] }, name);
  running.startInstance(name, { interfaces: { nic: [net, undefined, mac] } });
  await running.settle(story.random(120));
  story.putMachine(copy, { nic: [mac, net] }, copy);
  await running.settle(story.random(60));
  running.stopInstance(name);
  running.startInstance(name, { interfaces: { nic: [net, undefined, nextMac] } });
};

const pausePool: Act = (story) => {
  const name = story.poolName();
  if (!story.cluster.ipPools.objects.has(`default/${name}`)) return;
  const paused = story.random(2) === 0;
  story.running.change('IPPool', name, (one) => ({ ...one, spec: { ...(one.spec as object), paused } }));
};

const removeOrRemakePool: Act = (story) => {
  const name = story.poolName();
  const { ipPools } = story.cluster;
  if (ipPools.objects.has(`default/${name}`)) {
    ipPools.remove(`default/${name}`);
    return;
  }
  const serial = story.next();
  const creationTimestamp = `2026-01-02T00:00:${String(serial % 60).padStart(2, '0')}Z`;
  const made = story.pools[name] as KubernetesObject;
  ipPools.put({ ...made, metadata: { ...made.metadata, uid: `again-${serial}`, generation: 1, creationTimestamp } });
};

const secondPool: Act = (story) => {
  const { ipPools } = story.cluster;
  if (ipPools.objects.has('default/pool-1b')) {
    ipPools.remove('default/pool-1b');
    return;
  }
  const creationTimestamp = `2026-01-0${1 + story.random(3)}T00:00:30Z`;
  const made = pool('pool-1b', { start: '10.0.0.100', end: '10.0.0.109' });
  ipPools.put({ ...made, metadata: { ...made.metadata, uid: `b-${story.next()}`, generation: 1, creationTimestamp } });
};

const changePool: Act = (story) => {
  const name = story.poolName();
  if (!story.cluster.ipPools.objects.has(`default/${name}`)) return;
  const choices = [
    { leaseTime: story.random(1000) + 60 },
    { cidr: story.random(2) === 0 ? 'nonsense' : '10.0.0.0/24' },
    { reservations: [{ macAddress: `02:00:00:00:ff:0${story.random(5)}`, ipAddress: `10.0.0.${150 + story.random(5)}` }] },
  ];
  const choice = choices[story.random(3)];
  story.running.change('IPPool', name, (one) => {
    const spec = one.spec as { ipv4Config: Record<string, unknown> };
    return { ...one, spec: { ...spec, ipv4Config: { ...spec.ipv4Config, ...choice } } };
  });
};

const pauseConfig: Act = (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  if (machine === undefined || !story.cluster.networkConfigs.objects.has(`default/${name}`)) return;
  const paused = story.random(2) === 0;
  if (paused) story.holdings.configPaused(machine);
  story.running.change('VirtualMachineNetworkConfig', name, (config) => ({
    ...config,
    spec: { ...(config.spec as object), paused },
  }));
};

const deleteConfig: Act = async (story) => {
  const machine = story.machine();
  const stored = machine && story.cluster.networkConfigs.objects.get(`default/${machine.metadata.name}`);
  if (machine === undefined || stored === undefined) return;
  const { name, uid = '' } = stored.metadata;
  void story.cluster.networkConfigs.delete(`default/${name}`, uid).catch(() => undefined);
  await story.running.settle(2);
  story.holdings.configDeleted(machine);
};

/** An interface is to have an address of the pool's own, or any again. */
const pinMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const [nic = 'net-1'] = Object.keys(nicsOf(machine));
  const host = [10, 50, 60][story.random(3)] ?? 10;
  const annotations = story.random(3) === 0 ? {} : { [`static-ip.harvesterhci.io/${nic}`]: `10.0.0.${host + story.random(3)}` };
  story.running.change('VirtualMachine', machine.metadata.name, (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations } }));
};

const breakWatches: Act = (story) => {
  const { resources } = story.cluster;
  for (const resource of resources) resource.closeWatches((['closed', 'failed', 'expired'] as const)[story.random(3)]);
  if (story.random(2) === 0) for (const resource of resources) resource.compact();
};

const restart: Act = ({ running }) => running.restart();

const FEW: readonly Act[] = [createMachine, deleteMachine, changeMachine, deleteConfig, breakWatches, restart];
const MACHINES: readonly Act[] = [...FEW, createMachine, createMachine, pausePool, removeOrRemakePool, pauseConfig];
const POOLS: readonly Act[] = [...MACHINES, remakeMachine, secondPool, changePool];
const COPIES: readonly Act[] = [
  ...FEW,
  createMachine,
  copyMachine,
  copyMachine,
  copyMachine,
  shareAcrossNetworks,
  remakeMachine,
  deleteMachine,
  deleteConfig,
  deleteConfig,
];
const INSTANCES: readonly Act[] = [
  ...FEW,
  pinMachine,
  pinMachine,
  createPlainMachine,
  createPlainMachine,
  startInstance,
  startInstance,
  startInstance,
  startInstance,
  endInstance,
  changeWhileShuttingDown,
  copyThenRestart,
];

/** What stories are about, in turn. */
const FAMILIES: readonly (readonly Act[])[] = [
  MACHINES,
  COPIES,
  INSTANCES,
  [...MACHINES, ...POOLS],
  [...COPIES, ...INSTANCES],
  [...POOLS, ...COPIES, ...INSTANCES],
];

/** Tells the story of a seed; returns what is wrong in the course of it or in the end. */
export async function playRandomStory(seed: number): Promise<StoryFault[]> {
  const story = new Story(seed);
  await begin(story);
  await tell(story, FAMILIES[seed % FAMILIES.length] ?? MACHINES);
  await comeToRest(story);
  const faults = checkEnd(story);
  if (faults.length > 0) {
    await story.running.restart();
    await story.running.settle(60_000);
    const left = new Set(checkEnd(story).map(({ message }) => message));
    for (const { kind, message } of faults)
      story.faults.push({ kind, message: left.has(message) ? message : `gone after a restart: ${message}` });
  }
  return story.faults.map(({ kind, message }) => ({ kind, message: `seed ${seed}: ${message}` }));
}

/** The watches lag in two of three stories, and writes fail in one of four. */
async function begin({ running, random, cluster, pools }: Story): Promise<void> {
  const lag = random(3) === 0 ? 0 : LAG_MS;
  if (lag > 0) for (const resource of cluster.resources) slowWatch(running, resource, () => random(lag));
  await running.add(...NETWORKS.map((net) => network(net)), ...Object.values(pools));
  await running.started();
  if (random(4) > 0) return;
  for (const resource of cluster.resources)
    resource.writeFault = () => (['lost-request', 'lost-answer', 'conflict'] as const)[random(12)] ?? 'none';
}

async function tell(story: Story, acts: readonly Act[]): Promise<void> {
  const { running, random, cluster } = story;
  cluster.ipPools.onWritten = () => story.look();
  for (let step = 0; step < STEPS; step++) {
    await acts[random(acts.length)]?.(story);
    await running.settle(random(60));
    story.look();
  }
}

/** Each event comes later than it happened, in order. */
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

async function comeToRest(story: Story): Promise<void> {
  const { running, cluster } = story;
  for (const resource of cluster.resources) resource.writeFault = () => 'none';
  for (let round = 0; round < 2; round++) {
    story.collectGarbage();
    await running.settle(60_000);
  }
  story.look();
  let writes = 0;
  for (const resource of cluster.resources) {
    resource.writeFault = () => {
      writes++;
      return 'none';
    };
  }
  await running.settle(60_000);
  if (writes > 0) story.faults.push(other(`${writes} writes in a minute in which nothing happens`));
}

/** The oldest pool of each network. */
function servingPools({ cluster }: Running): Map<string, KubernetesObject> {
  const serving = new Map<string, KubernetesObject>();
  const age = ({ metadata }: KubernetesObject) => `${metadata.creationTimestamp} ${metadata.name}`;
  for (const one of [...cluster.ipPools.objects.values()].toSorted((a, b) => age(a).localeCompare(age(b)))) {
    const net = readText(one.spec, 'networkName') ?? '';
    if (!serving.has(net)) serving.set(net, one);
  }
  return serving;
}

/** What is not as it should be, by what is stored. */
function checkEnd({ running }: Story): StoryFault[] {
  const serving = servingPools(running);
  for (const [net, { spec }] of serving) if (readText(spec, 'ipv4Config', 'cidr') === 'nonsense') serving.set(net, BROKEN);
  const configs = [...running.cluster.networkConfigs.objects.values()];
  const machines = [...running.cluster.virtualMachines.objects.values()];
  return [
    ...configs.filter(isBeingDeleted).map(({ metadata }) => other(`${metadata.name} is still being deleted`)),
    ...machines.flatMap((machine) => checkMachine(running, machine)),
    ...[...serving].flatMap(([net, one]) => (one === BROKEN ? [] : checkPool(running, net, one))),
    ...configs.flatMap((config) => checkConfig(running, serving, config)),
    ...findDoubleOwners(running),
  ];
}

const BROKEN: KubernetesObject = { metadata: { name: 'broken' } };

interface Entry {
  readonly net: string;
  readonly owner: string;
}

function entriesOf({ spec }: KubernetesObject): Entry[] {
  return readList(spec, 'networkConfigs').map((entry) => ({
    net: readText(entry, 'networkName') ?? '',
    owner: readText(entry, 'macAddress') ?? '',
  }));
}

/** Each interface whose MAC address is known is in the config, and nothing else. */
function checkMachine(running: Running, machine: KubernetesObject): StoryFault[] {
  const { name } = machine.metadata;
  const expected = expectedInterfaces(running, machine);
  const config = running.networkConfig(name);
  const known = expected.filter(({ macAddress }) => macAddress !== undefined);
  if (config === undefined) return known.length === 0 ? [] : [other(`${name} has no vmnetcfg`)];
  const present = entriesOf(config);
  const isPresent = ({ network: net, macAddress }: (typeof expected)[number]) =>
    present.some((one) => one.net === net && (macAddress === undefined || one.owner === macAddress));
  const isInSync = known.every(isPresent) && present.length <= expected.length;
  return isInSync ? [] : [other(`${name} is not in sync`)];
}

/** Former MAC addresses of interfaces whose MAC address belongs to another machine now: until they get one of their own, they keep theirs. */
function keptForOthers(running: Running, net: string): Set<string> {
  const configs = [...running.cluster.networkConfigs.objects.values()];
  const interfaces = configs.flatMap((config) =>
    [...readRememberedInterfaces(config).values()].map((one) => ({ ...one, config: config.metadata.name })),
  );
  const isShared = ({ config, macAddress }: (typeof interfaces)[number]) =>
    interfaces.some((other) => other.config !== config && other.macAddress === macAddress && other.networkName === net);
  return new Set(interfaces.filter((one) => one.networkName === net && isShared(one)).flatMap(({ replaces }) => replaces));
}

function checkPool(running: Running, net: string, { metadata, spec, status }: KubernetesObject): StoryFault[] {
  const reserved = new Set(readList(spec, 'ipv4Config', 'reservations').map((one) => readText(one, 'macAddress')));
  const claimed = new Set(
    [...running.cluster.networkConfigs.objects.values()]
      .filter((config) => readField(config.spec, 'paused') !== true)
      .flatMap(entriesOf)
      .filter((entry) => entry.net === net)
      .map(({ owner }) => owner),
  );
  const owners = Object.values(running.allocated(metadata.name));
  const kept = keptForOthers(running, net);
  const leaked = owners.filter((owner) => !claimed.has(owner) && !reserved.has(owner) && !kept.has(owner));
  const used = readField(status, 'ipv4', 'used');
  return [
    ...(new Set(owners).size === owners.length ? [] : [other(`${metadata.name}: a MAC address twice`)]),
    ...leaked.map((owner): StoryFault => ({ kind: 'leak', message: `${metadata.name}: ${owner} is leaked` })),
    ...(reserved.size > 0 || used === owners.length
      ? []
      : [other(`${metadata.name}: used is ${String(used)}, not ${owners.length}`)]),
  ];
}

function checkConfig(running: Running, serving: ReadonlyMap<string, KubernetesObject>, config: KubernetesObject): StoryFault[] {
  const entries = entriesOf(config);
  if (readField(config.spec, 'paused') === true || isBeingDeleted(config)) return [];
  if (entries.some(({ net }) => serving.get(net) === BROKEN)) return [];
  const { name } = config.metadata;
  const differing = entries.flatMap((entry) => {
    const [shown, has] = [shownOf(config, entry), addressOf(running, { config, serving }, entry)];
    return shown === has ? [] : [other(`${name} shows ${shown} for ${entry.net}, the pool ${has}`)];
  });
  // One that wants an address in particular may have to wait for it, with another one or without.
  const isPinned = readList(config.spec, 'networkConfigs').some((entry) => readText(entry, 'ipAddress') !== undefined);
  return [...differing, ...(isPinned ? [] : checkLacking(running, { config, serving }))];
}

/** It has what it can have, all or nothing, and reports it. */
function checkLacking(running: Running, place: Place): StoryFault[] {
  const { config, serving } = place;
  const { name } = config.metadata;
  const served = entriesOf(config).filter(({ net }) => serving.has(net));
  const lacking = served.filter((entry) => addressOf(running, place, entry) === undefined);
  const couldHave = lacking.filter((entry) => isFree(serving, entry.net) && rivals(running, config, entry).length === 0);
  const isAllocated = running
    .conditions('VirtualMachineNetworkConfig', name)
    .some((condition) => condition.startsWith('Allocated=True'));
  return [
    ...(lacking.length > 0 && couldHave.length === lacking.length
      ? [other(`${name} could have ${lacking.map(({ net }) => net).join()} and does not`)]
      : []),
    ...(served.length > 0 && isAllocated !== (lacking.length === 0)
      ? [other(`${name}: Allocated is ${isAllocated}, ${lacking.length} are lacking`)]
      : []),
  ];
}

interface Place {
  readonly config: KubernetesObject;
  readonly serving: ReadonlyMap<string, KubernetesObject>;
}

/** What the pool has for an entry of this config: what it has for another machine with the same MAC address does not count. */
function addressOf(running: Running, place: Place, entry: Entry): string | undefined {
  const one = place.serving.get(entry.net);
  if (one === undefined || isTaken(running, place, entry)) return undefined;
  return Object.entries(running.allocated(one.metadata.name)).find(([, owner]) => owner === entry.owner)?.[0];
}

/** True if another config has the address of this MAC address. */
function isTaken(running: Running, { config }: Place, entry: Entry): boolean {
  return rivals(running, config, entry).some((one) => shownOf(one, entry) !== undefined);
}

/** Other configs with the same MAC address on the same network: the oldest of all has it, or waits for it. */
function rivals(running: Running, config: KubernetesObject, { net, owner }: Entry): KubernetesObject[] {
  return [...running.cluster.networkConfigs.objects.values()].filter(
    (one) => one !== config && entriesOf(one).some((entry) => net === entry.net && owner === entry.owner),
  );
}

/** The address that the status of a config shows. */
function shownOf({ status }: KubernetesObject, { net, owner }: Entry): string | undefined {
  const shown = readList(status, 'networkConfigs').find(
    (entry) => readText(entry, 'macAddress') === owner && readText(entry, 'networkName') === net,
  );
  return readText(shown, 'state') === 'Allocated' ? readText(shown, 'allocatedIPAddress') : undefined;
}

function isFree(serving: ReadonlyMap<string, KubernetesObject>, net: string): boolean {
  const { spec, status } = serving.get(net) ?? BROKEN;
  return readField(spec, 'paused') !== true && Number(readField(status, 'ipv4', 'available')) > 0;
}
