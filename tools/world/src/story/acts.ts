/** What can happen in a world. Each act is one thing that people, machines, networks or programs do. */

import { AGENT_GROUP_LABEL } from '@vmdhcp/ippool-api/agent';
import { ipPool } from '@vmdhcp/lab';
import { AGENT_NAMESPACE, UNIFIED_DEPLOYMENT } from '../cluster/controller-run.js';
import { type InterfaceSettings, NAMESPACE, octet, type RunStrategy, type WorldMachine } from '../cluster/machines.js';
import { FAIR, type PoolOfWorld, poolConfig, type World } from '../cluster/world.js';
import type { ClientHabits } from '../guests/dhcp-client.js';
import { GOOD_LINKS } from '../network/segment.js';

/** @returns what happened, for people; undefined: there was nothing that it could happen to. */
export type Act = (story: Scene) => Promise<string | undefined> | string | undefined;

/** Where an act takes place. */
export interface Scene {
  readonly world: World;
  /** The next number of this story. */
  readonly next: () => number;
  /** When acts last happened, by name, in milliseconds of simulated time. */
  readonly lastMs: ReadonlyMap<string, number>;
  /** Undoes it after a while, or when the world is healed. */
  readonly later: (mostMs: number, undo: () => void) => void;
}

const IPPOOLS = { group: 'network.harvesterhci.io', resource: 'ippools', namespace: NAMESPACE };
const CONFIGS = { group: 'network.harvesterhci.io', resource: 'virtualmachinenetworkconfigs', namespace: NAMESPACE };
const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };
const DEPLOYMENTS = { group: 'apps', resource: 'deployments', namespace: AGENT_NAMESPACE };
const LATELY_MS = 120_000;
const CLONED_IDENTIFIER = Uint8Array.of(255, 1, 2, 3, 4, 0, 1, 0, 1);

function one<Thing>({ world }: Scene, things: readonly Thing[]): Thing | undefined {
  return things.length === 0 ? undefined : things[world.random(things.length)];
}

/** In a random order, which no engine's way to sort decides. */
function shuffled<Thing>({ world }: Scene, things: readonly Thing[]): Thing[] {
  const left = [...things];
  return things.flatMap(() => left.splice(world.random(left.length), 1));
}

function chance({ world }: Scene, perCent: number): boolean {
  return world.random(100) < perCent;
}

function macOf(number: number): string {
  return `02:00:00:00:${octet(number >> 8)}:${octet(number & 255)}`;
}

function habitsOf(scene: Scene, more: Partial<ClientHabits> = {}): ClientHabits {
  return {
    clientIdentifier: undefined,
    ignoresNak: false,
    remembersLease: chance(scene, 50),
    releasesAtEnd: chance(scene, 30),
    probes: chance(scene, 80),
    ...more,
  };
}

async function create(
  scene: Scene,
  kind: {
    readonly habits?: Partial<ClientHabits>;
    readonly isPlain?: boolean;
    readonly networks?: number;
    readonly isPinned?: boolean;
    readonly runStrategy?: RunStrategy;
    readonly mayBeWoken?: boolean;
  },
): Promise<string | undefined> {
  const { world } = scene;
  const number = scene.next();
  const networks = shuffled(scene, world.pools).slice(0, kind.networks ?? 1);
  const interfaces = networks.map((pool, index): InterfaceSettings => {
    const pin = kind.isPinned === true ? pinIn(scene, pool) : undefined;
    return {
      name: `nic-${index}`,
      network: pool.key,
      macAddress: kind.isPlain === true ? undefined : macOf(number * 4 + index),
      ...(pin !== undefined && { pin }),
    };
  });
  const { runStrategy = 'Always', mayBeWoken = false } = kind;
  const habits = habitsOf(scene, kind.habits);
  const machine = await world.machines.create({ name: `vm-${number}`, interfaces, habits, runStrategy, mayBeWoken });
  const where = interfaces.map(
    ({ network, macAddress = 'a MAC address of KubeVirt', pin }) =>
      `${network} as ${macAddress}${pin === undefined ? '' : ` pinned to ${pin}`}`,
  );
  const wakeable = mayBeWoken ? ', and may be woken' : '';
  return `virtual machine ${machine.name} (${runStrategy}) is created on ${where.join(' and ')}${wakeable}`;
}

/** A machine that runs when it is asked to: by a person, or by a magic packet if the WolConfig allows that. */
async function createWakeable(scene: Scene, mayBeWoken: boolean): Promise<string | undefined> {
  const runStrategy = one(scene, ['Halted', 'Manual'] as const) ?? 'Manual';
  return await create(scene, { runStrategy, mayBeWoken });
}

function wake({ world }: Scene, { name, interfaces }: WorldMachine): string | undefined {
  const macAddress = interfaces[0]?.macAddress;
  if (macAddress === undefined || world.wakeAgents.length === 0) return undefined;
  let agents = 0;
  for (let packets = 1 + world.random(3); packets > 0; packets--) agents += world.sendMagicPacket(name, macAddress);
  return `magic packets for ${name} (${macAddress}): heard ${agents} times`;
}

/** An address of the pool that no machine is pinned to. */
function pinIn({ world }: Scene, { key, serverIP, size }: PoolOfWorld): string | undefined {
  const prefix = serverIP.slice(0, serverIP.lastIndexOf('.'));
  const taken = new Set(
    world.machines.all.flatMap(({ interfaces }) => interfaces.map(({ network, pin }) => `${network} ${pin}`)),
  );
  const address = `${prefix}.${10 + world.random(size)}`;
  return taken.has(`${key} ${address}`) ? undefined : address;
}

function someMachine(scene: Scene, fits: (machine: WorldMachine) => boolean = () => true): WorldMachine | undefined {
  return one(scene, scene.world.machines.all.filter(fits));
}

function somePod(scene: Scene) {
  return one(scene, scene.world.livePods);
}

/** One that the controller has made. */
function someDeployment(scene: Scene): string | undefined {
  const made = scene.world.simulator.client.list(DEPLOYMENTS);
  return one(
    scene,
    made.filter(({ metadata }) => metadata.name !== UNIFIED_DEPLOYMENT),
  )?.metadata.name;
}

function happenedLately({ world, lastMs }: Scene, act: string): boolean {
  return world.scheduler.nowMs() - (lastMs.get(act) ?? Number.NEGATIVE_INFINITY) < LATELY_MS;
}

async function editPool(scene: Scene, pool: PoolOfWorld, spec: object): Promise<void> {
  await scene.world.simulator.client.patch({ ...IPPOOLS, name: pool.name }, { type: 'merge', body: { spec } as never });
}

/** Everyday life of machines: nothing of it is a fault. */
export const LIFE_OF_MACHINES: Readonly<Record<string, Act>> = {
  'create a machine': (scene) => create(scene, {}),
  'create a machine with two networks': (scene) => create(scene, { networks: 2 }),
  'create a machine without a MAC address': (scene) => create(scene, { isPlain: true }),
  'create a pinned machine': (scene) => create(scene, { isPinned: true }),
  'create clones': async (scene) => {
    await create(scene, { habits: { clientIdentifier: CLONED_IDENTIFIER } });
    return await create(scene, { habits: { clientIdentifier: CLONED_IDENTIFIER } });
  },
  'create a machine that ignores refusals': (scene) => create(scene, { habits: { ignoresNak: true } }),
  'change the interfaces of a machine': async (scene) => {
    const machine = someMachine(scene, ({ interfaces }) => interfaces.every(({ pin }) => pin === undefined));
    if (machine === undefined) return undefined;
    const number = scene.next();
    const [pool] = shuffled(scene, scene.world.pools);
    const [first] = machine.interfaces;
    if (pool === undefined || first === undefined) return undefined;
    const network = chance(scene, 50) ? pool.key : first.network;
    await scene.world.machines.change(machine.name, [{ name: first.name, network, macAddress: macOf(number * 4) }]);
    return `virtual machine ${machine.name} is to be on ${network} as ${macOf(number * 4)} from its next start on`;
  },
  'delete a machine': async (scene) => {
    const machine = someMachine(scene);
    if (machine === undefined) return undefined;
    await scene.world.machines.delete(machine.name);
    return `virtual machine ${machine.name} is deleted`;
  },
  'restart a machine': async (scene) => {
    const machine = someMachine(scene, ({ guests }) => guests.length > 0);
    if (machine === undefined) return undefined;
    await scene.world.machines.stop(machine.name);
    scene.later(20_000, () => void scene.world.machines.start(machine.name).catch(() => undefined));
    return `virtual machine ${machine.name} is stopped, and starts again`;
  },
  'migrate a machine': (scene) => {
    const machine = someMachine(scene);
    if (machine === undefined) return undefined;
    scene.world.machines.migrate(machine.name);
    return `virtual machine ${machine.name} migrates to ${machine.node}`;
  },
  'delete a network config': async (scene) => {
    const machine = someMachine(scene);
    if (machine === undefined || happenedLately(scene, 'make a pool anew')) return undefined;
    await scene.world.simulator.client.delete({ ...CONFIGS, name: machine.name }).catch(() => undefined);
    return `somebody deletes VirtualMachineNetworkConfig ${machine.name}`;
  },
};

/** What happens with Wake-on-LAN. */
export const WAKE_UPS: Readonly<Record<string, Act>> = {
  'create a machine that may be woken': (scene) => createWakeable(scene, true),
  'create a machine that nobody may wake': (scene) => createWakeable(scene, false),
  'shut a machine down': async (scene) => {
    const machine = someMachine(scene, ({ guests, runStrategy }) => guests.length > 0 && runStrategy !== 'Always');
    if (machine === undefined) return undefined;
    await scene.world.machines.shutDown(machine.name);
    return `virtual machine ${machine.name} is shut down`;
  },
  'send magic packets': (scene) => {
    const machine = someMachine(scene, ({ runStrategy }) => runStrategy !== 'Always');
    return machine && wake(scene, machine);
  },
  'shut a machine down, and wake it': async (scene) => {
    const machine = someMachine(scene, ({ guests, runStrategy }) => guests.length > 0 && runStrategy !== 'Always');
    if (machine === undefined) return undefined;
    await scene.world.machines.shutDown(machine.name);
    scene.later(20_000, () => void wake(scene, machine));
    return `virtual machine ${machine.name} is shut down, and soon woken`;
  },
};

/** What people do to pools. */
export const LIFE_OF_POOLS: Readonly<Record<string, Act>> = {
  'change a pool': async (scene) => {
    const index = scene.world.random(scene.world.pools.length);
    const pool = scene.world.pools[index] as PoolOfWorld;
    const leaseTime = 300 + scene.world.random(900);
    const dns = [`10.0.${index}.${200 + scene.world.random(50)}`];
    await editPool(scene, pool, { ipv4Config: { ...poolConfig(index, pool.size), leaseTime, dns } });
    return `pool ${pool.key}: leaseTime ${leaseTime}, dns ${dns.join()}`;
  },
  'pause a pool': async (scene) => {
    const pool = one(scene, scene.world.pools) as PoolOfWorld;
    await editPool(scene, pool, { paused: true });
    scene.later(40_000, () => void editPool(scene, pool, { paused: false }).catch(() => undefined));
    return `pool ${pool.key} is paused`;
  },
  'make a pool anew': async (scene) => {
    const index = scene.world.random(scene.world.pools.length);
    const pool = scene.world.pools[index] as PoolOfWorld;
    // A config that is deleted by hand and a pool that is deleted meanwhile: the address is nowhere any more.
    if (happenedLately(scene, 'delete a network config')) return undefined;
    const { client } = scene.world.simulator;
    await client.delete({ ...IPPOOLS, name: pool.name }).catch(() => undefined);
    scene.later(30_000, () => void createPool(scene, index, pool));
    return `pool ${pool.key} is deleted, and made anew`;
  },
};

/** What is being deleted is waited for. */
async function createPool(scene: Scene, index: number, pool: PoolOfWorld): Promise<void> {
  const { simulator, scheduler } = scene.world;
  while (simulator.client.get({ ...IPPOOLS, name: pool.name }) !== undefined) await scheduler.sleep(1_000);
  const {
    apiVersion: _version,
    kind: _kind,
    ...object
  } = ipPool(pool.key, {
    ipv4Config: poolConfig(index, pool.size),
    spec: pool.spec,
  });
  await simulator.client.create(IPPOOLS, object as never).catch(() => undefined);
}

/** Faults of programs, nodes, networks and the API server. */
export const FAULTS: Readonly<Record<string, Act>> = {
  'kill an agent': (scene) => {
    const pod = somePod(scene);
    pod?.stop(0);
    return pod && `agent ${pod.name} is killed`;
  },
  'freeze an agent': (scene) => {
    const pod = somePod(scene);
    const ms = 200 + scene.world.random(20_000);
    pod?.agent.process.freeze(ms);
    return pod && `agent ${pod.name} is frozen for ${ms} ms`;
  },
  'delete a pod': async (scene) => {
    const pod = somePod(scene);
    if (pod === undefined) return undefined;
    const path = { resource: 'pods', namespace: AGENT_NAMESPACE, name: pod.name };
    await scene.world.simulator.client.delete(path).catch(() => undefined);
    return `pod ${pod.name} is deleted`;
  },
  'kill an agent for Wake-on-LAN': (scene) => {
    const agent = one(scene, scene.world.wakeAgents);
    agent?.stop(0);
    return agent && `agent ${agent.name} is killed`;
  },
  'freeze an agent for Wake-on-LAN': (scene) => {
    const agent = one(scene, scene.world.wakeAgents);
    const ms = 200 + scene.world.random(20_000);
    agent?.process.freeze(ms);
    return agent && `agent ${agent.name} is frozen for ${ms} ms`;
  },
  'stall an agent in a call to its kernel': (scene) => {
    const pod = somePod(scene);
    if (pod === undefined) return undefined;
    const { kernel } = pod.agent;
    const ms = 100 + scene.world.random(4_000);
    // One at a time: a process that is frozen in its call, and again before it can take that back, cannot be helped.
    kernel.callMs = () => {
      kernel.callMs = () => 1;
      return ms;
    };
    return `the next call to the kernel of ${pod.name} takes ${ms} ms`;
  },
  'lose an interface': (scene) => {
    const pod = somePod(scene);
    const interfaceName = pod && one(scene, [...pod.segments.keys()]);
    if (pod === undefined || interfaceName === undefined) return undefined;
    pod.agent.kernel.removeLink(interfaceName);
    scene.later(5_000, () => pod.agent.kernel.addLink(interfaceName));
    return `${pod.name} loses ${interfaceName}, and gets another one of that name`;
  },
  'delete a Deployment': async (scene) => {
    const { client } = scene.world.simulator;
    const name = someDeployment(scene);
    if (name === undefined) return undefined;
    await client.delete({ ...DEPLOYMENTS, name }, { propagationPolicy: 'Background' }).catch(() => undefined);
    return `somebody deletes Deployment ${name}`;
  },
  'edit a Deployment': async (scene) => {
    const { client } = scene.world.simulator;
    const name = someDeployment(scene);
    if (name === undefined) return undefined;
    const replicas = scene.world.random(4);
    await client.patch({ ...DEPLOYMENTS, name }, { type: 'merge', body: { spec: { replicas } } }).catch(() => undefined);
    return `somebody scales Deployment ${name} to ${replicas}`;
  },
  'delete rights of agents': async (scene) => {
    const { client } = scene.world.simulator;
    const resource = chance(scene, 50) ? 'roles' : 'rolebindings';
    const path = { group: 'rbac.authorization.k8s.io', resource, namespace: AGENT_NAMESPACE };
    // Those of the controller come with the chart: nobody makes them again.
    const made = client.list(path, { labelSelector: AGENT_GROUP_LABEL });
    const name = one(scene, made)?.metadata.name;
    if (name === undefined) return undefined;
    await client.delete({ ...path, name }).catch(() => undefined);
    return `somebody deletes one of ${resource}: ${name}`;
  },
  'restart the API server': async (scene) => {
    await scene.world.restartApi();
    return 'the API server restarts';
  },
  'kill a node': (scene) => {
    const node = one(scene, scene.world.nodes) as string;
    const { nodes } = scene.world.simulator;
    for (const pod of scene.world.livePods) if (pod.node === node) pod.loseInterfaces();
    void nodes.powerOff(node).catch(() => undefined);
    scene.later(90_000, () => void nodes.reconnect(node).catch(() => undefined));
    return `${node} loses power`;
  },
  'cut a node off from the API server': (scene) => {
    const node = one(scene, scene.world.nodes) as string;
    scene.world.cutNodes.add(node);
    scene.later(45_000, () => scene.world.cutNodes.delete(node));
    return `${node} cannot reach the API server`;
  },
  'cut everybody off from the API server': (scene) => {
    for (const node of scene.world.nodes) scene.world.cutNodes.add(node);
    scene.later(30_000, () => scene.world.cutNodes.clear());
    return 'nobody can reach the API server';
  },
  'cut a node off from its networks': (scene) => {
    const node = one(scene, scene.world.nodes) as string;
    const cut = (isCut: boolean) => {
      for (const segment of scene.world.segments.values()) segment.cutOff(node, isCut);
    };
    cut(true);
    scene.later(45_000, () => cut(false));
    return `${node} is cut off from its networks`;
  },
  'lose frames': (scene) => {
    const segment = one(scene, [...scene.world.segments.values()]);
    if (segment === undefined) return undefined;
    segment.quality = {
      lossPerMille: 50 + scene.world.random(400),
      repeatPerMille: scene.world.random(300),
      mostDelayMs: 5 + scene.world.random(400),
    };
    scene.later(60_000, () => {
      segment.quality = GOOD_LINKS;
    });
    const { lossPerMille, repeatPerMille, mostDelayMs } = segment.quality;
    return `${segment.name} loses ${lossPerMille / 10} %, repeats ${repeatPerMille / 10} % and delays up to ${mostDelayMs} ms`;
  },
  'make the API server slow': (scene) => {
    scene.world.weather = {
      mostLatencyMs: 20 + scene.world.random(1_500),
      mostWatchLagMs: 20 + scene.world.random(10_000),
      lossPerMille: scene.world.random(150),
    };
    scene.later(60_000, () => {
      scene.world.weather = FAIR;
    });
    const { mostLatencyMs, mostWatchLagMs, lossPerMille } = scene.world.weather;
    return `the API server answers within ${mostLatencyMs} ms, its watches lag ${mostWatchLagMs} ms, ${lossPerMille / 10} % of requests are lost`;
  },
  'break watches': (scene) => {
    const how = one(scene, ['break', 'end', 'expire'] as const) ?? 'break';
    const many = scene.world.simulator.disturbWatches(how);
    if (chance(scene, 50)) scene.world.simulator.compact();
    return `${many} watches: ${how}`;
  },
  'kill a controller': (scene) => {
    const index = scene.world.random(2);
    scene.world.restartController(index, 500 + scene.world.random(8_000));
    return `controller ${index} is killed`;
  },
  'kill all controllers': (scene) => {
    const ms = 500 + scene.world.random(40_000);
    for (const index of [0, 1]) scene.world.restartController(index, ms);
    return `both controllers are killed, for ${ms} ms`;
  },
  'freeze a controller': (scene) => {
    const controller = one(scene, scene.world.controllers);
    const ms = 500 + scene.world.random(40_000);
    controller?.process.freeze(ms);
    return controller && `a controller is frozen for ${ms} ms`;
  },
  'change the topology': (scene) => {
    const topology = one(scene, scene.world.topologies) ?? 'per-network';
    scene.world.startControllers(topology);
    return `the controllers start again with topology ${topology}`;
  },
  'delete a Lease': async (scene) => {
    const lease = one(scene, scene.world.simulator.client.list({ ...LEASES, namespace: AGENT_NAMESPACE }));
    if (lease === undefined) return undefined;
    const name = lease.metadata.name ?? '';
    await scene.world.simulator.client.delete({ ...LEASES, namespace: AGENT_NAMESPACE, name }).catch(() => undefined);
    return `somebody deletes Lease ${name}`;
  },
  'set a clock': (scene) => {
    const pod = somePod(scene);
    if (pod === undefined) return undefined;
    const hours = scene.world.random(2) === 0 ? -1 : 1;
    pod.agent.wallOffsetMs += hours * 3_600_000;
    return `the clock of ${pod.name} jumps by ${hours} h`;
  },
};
