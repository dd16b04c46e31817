/** Everyday life in a world: acts of people on machines, wake-ups and pools, none of which is a fault. */

import { ALLOW_DELETION_ANNOTATION } from '@vmdhcp/ippool-api';
import { ipPool } from '@vmdhcp/lab';
import { CONFIGS, type InterfaceSettings, IPPOOLS, octet, type RunStrategy, type WorldMachine } from '../cluster/machines.js';
import { ipv6ConfigOf, type PoolOfWorld, poolConfig } from '../cluster/pool-of-world.js';
import { CLONED_IDENTIFIER, type ClientHabits } from '../guests/dhcp-client.js';
import { type Act, chance, isDenied, one, type Scene, shuffled } from './scene.js';

const LATELY_MS = 120_000;

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
    isBehindRelay: false,
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
  const relay = habits.isBehindRelay ? ' behind a relay' : '';
  return `virtual machine ${machine.name} (${runStrategy}) is created on ${where.join(' and ')}${relay}${wakeable}`;
}

/** A machine that is started on request: by a person, or by a magic packet if the WolConfig allows that. */
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

function happenedLately({ world, lastMs }: Scene, act: string): boolean {
  return world.scheduler.nowMs() - (lastMs.get(act) ?? Number.NEGATIVE_INFINITY) < LATELY_MS;
}

async function editPool(scene: Scene, pool: PoolOfWorld, spec: object): Promise<void> {
  await scene.world.simulator.client.patch({ ...IPPOOLS, name: pool.name }, { type: 'merge', body: { spec } as never });
}

/** Acts on machines. */
export const LIFE_OF_MACHINES: Readonly<Record<string, Act>> = {
  'create a machine': (scene) => create(scene, {}),
  'create a machine with two networks': (scene) => create(scene, { networks: 2 }),
  'create a machine without a MAC address': (scene) => create(scene, { isPlain: true }),
  'create a pinned machine': (scene) => create(scene, { isPinned: true }),
  'create clones': async (scene) => {
    await create(scene, { habits: { clientIdentifier: CLONED_IDENTIFIER } });
    return await create(scene, { habits: { clientIdentifier: CLONED_IDENTIFIER } });
  },
  'create a machine behind a relay': (scene) => create(scene, { habits: { isBehindRelay: true } }),
  'create clones behind a relay': async (scene) => {
    const habits = { clientIdentifier: CLONED_IDENTIFIER, isBehindRelay: true };
    await create(scene, { habits });
    return await create(scene, { habits });
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
  'move a running machine to another network': async (scene) => {
    const { machines, pools } = scene.world;
    const machine = someMachine(scene, (each) => machines.canChangeNetwork(each));
    const pool = one(
      scene,
      pools.filter(({ key }) => key !== machine?.interfaces[0]?.network),
    );
    if (machine === undefined || pool === undefined) return undefined;
    const { guests } = machine;
    await machines.beginMove(machine, pool.key);
    scene.later(180_000, () => void machines.finishMove(machine, pool.key, guests));
    return `virtual machine ${machine.name} is to be on ${pool.key} after its next migration`;
  },
  'delete a network config': async (scene) => {
    const machine = someMachine(scene);
    if (machine === undefined || happenedLately(scene, 'make a pool anew')) return undefined;
    await scene.world.simulator.client.delete({ ...CONFIGS, name: machine.name }).catch(() => undefined);
    return `somebody deletes VirtualMachineNetworkConfig ${machine.name}`;
  },
};

/** Acts with Wake-on-LAN. */
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

/** Acts on pools. */
export const LIFE_OF_POOLS: Readonly<Record<string, Act>> = {
  'change a pool': async (scene) => {
    const index = scene.world.random(scene.world.pools.length);
    const pool = scene.world.pools[index] as PoolOfWorld;
    const leaseTime = 300 + scene.world.random(900);
    const dns = [`10.0.${index}.${200 + scene.world.random(50)}`];
    await editPool(scene, pool, { ipv4Config: { ...poolConfig(index, pool.size), leaseTime, dns } });
    return `pool ${pool.key}: leaseTime ${leaseTime}, dns ${dns.join()}`;
  },
  'change the range of a pool': async (scene) => {
    const index = scene.world.random(scene.world.pools.length);
    const pool = scene.world.pools[index] as PoolOfWorld;
    const ranges = someRanges(scene, index, pool.size);
    await editPool(scene, pool, { ipv4Config: { pool: { ranges } } });
    return `pool ${pool.key}: its addresses are ${ranges?.join(' and ') ?? 'all again'}`;
  },
  'pause a pool': async (scene) => {
    const pool = one(scene, scene.world.pools) as PoolOfWorld;
    await editPool(scene, pool, { paused: true });
    scene.later(40_000, () => void insist(scene, () => editPool(scene, pool, { paused: false })));
    return `pool ${pool.key} is paused`;
  },
  'create a second pool on a network': async (scene) => {
    const index = scene.world.random(scene.world.pools.length);
    const { name, key } = scene.world.pools[index] as PoolOfWorld;
    const { client } = scene.world.simulator;
    const first = client.get({ ...IPPOOLS, name });
    // Caches of the webhook may lag: it need not know a pool that was created a moment ago. One that is deleted serves no longer.
    if (happenedLately(scene, 'make a pool anew') || first?.metadata['deletionTimestamp'] !== undefined || first === undefined)
      return undefined;
    const second = { ...ipPool(key, { ipv4Config: poolConfig(index, 4) }), metadata: { name: `${name}-again` } };
    const isAccepted = await client.create(IPPOOLS, second as never).then(
      () => true,
      (error: unknown) => (isDenied(error) ? false : undefined),
    );
    // Without a webhook nothing is accepted either, which shows nothing about its rules.
    if (isAccepted !== undefined) scene.world.onSecondPool(key, isAccepted);
    return `somebody tries to create a second pool on ${key}`;
  },
  'make a pool anew': async (scene) => {
    const index = scene.world.random(scene.world.pools.length);
    const pool = scene.world.pools[index] as PoolOfWorld;
    // Not together: if a config and its pool are deleted by hand, the address is recorded nowhere.
    if (happenedLately(scene, 'delete a network config')) return undefined;
    const { client } = scene.world.simulator;
    const body = { metadata: { annotations: { [ALLOW_DELETION_ANNOTATION]: 'true' } } };
    await client.patch({ ...IPPOOLS, name: pool.name }, { type: 'merge', body });
    await client.delete({ ...IPPOOLS, name: pool.name });
    scene.later(30_000, () => void createPool(scene, index, pool));
    return `pool ${pool.key} is deleted, and made anew`;
  },
};

/** Acts on pools that may have IPv6. */
export const LIFE_OF_IPV6: Readonly<Record<string, Act>> = {
  'change the IPv6 of a pool': async (scene) => {
    const { pools, random } = scene.world;
    const index = random(pools.length);
    const pool = pools[index] as PoolOfWorld;
    const ipv6Config = chance(scene, 20) ? null : ipv6ConfigOf(index, random);
    await editPool(scene, pool, { ipv6Config });
    return `pool ${pool.key} has ${ipv6Config === null ? 'no IPv6' : `IPv6: ${JSON.stringify(ipv6Config)}`}`;
  },
};

/** Repeats a change until the API server accepts it: nobody changes pools while the webhook is away. */
async function insist({ world }: Scene, change: () => Promise<unknown>): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await change().then(
      () => true,
      () => false,
    );
    if (!isDone) await world.scheduler.sleep(2_000);
  }
}

/** The whole range, a part of it, or two parts, some of which may hold addresses in use. */
function someRanges(scene: Scene, index: number, size: number): string[] | null {
  const [first, last] = [10, 9 + size];
  const middle = first + scene.world.random(size);
  const half = `10.0.${index}.${middle}-10.0.${index}.${last}`;
  return one(scene, [null, [half], [half, `10.0.${index}.${first}`]]) ?? null;
}

/** Waits for objects that are being deleted. */
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
  await insist(scene, () => simulator.client.create(IPPOOLS, object as never));
}
