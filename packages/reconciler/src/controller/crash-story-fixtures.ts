/** Stories in which the controller's writes are lost, its watches break and it is killed: at one write, or at random from a seed. */
import { type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';
import { checkEnd as checkStoryEnd } from './random-story-end-fixtures.js';
import { Holdings, other, type StoryFault } from './story-fixtures.js';

const NETWORK_OF = { 'pool-1': 'default/net-1', 'pool-2': 'default/net-2' } as const;
const STEPS = 25;

const nic = (index: number, net = 'net-1') => [`02:00:00:00:00:${index.toString(16).padStart(2, '0')}`, net] as const;

/** Makes the controller of a story faulty; the story must detect it. */
export type Sabotage = (running: Running) => void;
const NO_SABOTAGE: Sabotage = () => undefined;

async function cluster(sabotage: Sabotage): Promise<Running> {
  const running = new Running();
  sabotage(running);
  await running.add(network('net-1'), network('net-2'));
  await running.add(
    pool('pool-1', { start: '10.0.0.10', end: '10.0.0.40' }),
    pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.54' }),
  );
  return running.started();
}

function holdingsOf(running: Running): Holdings {
  const poolOf = new Map<string, string>(Object.entries(NETWORK_OF).map(([name, net]) => [net, name]));
  return new Holdings(running, (net) => {
    const name = poolOf.get(net) ?? '';
    return { uid: running.cluster.ipPools.objects.get(`default/${name}`)?.metadata.uid, record: running.allocated(name) };
  });
}

/** The violations after everything has settled: each machine must have its addresses. */
function checkEnd(running: Running): StoryFault[] {
  const { networkConfigs, virtualMachines } = running.cluster;
  const names = [...networkConfigs.objects.values()].map(({ metadata }) => metadata.name);
  return [
    ...checkStoryEnd({ running }),
    ...names
      .filter((name) => !virtualMachines.objects.has(`default/${name}`))
      .map((name): StoryFault => ({ kind: 'leak', message: `the vmnetcfg of ${name}, which is gone, is left` })),
    ...names
      .filter((name) => !running.conditions('VirtualMachineNetworkConfig', name).includes('InSynced=True'))
      .map((name) => other(`${name} is not in sync`)),
  ];
}

/** Creates, changes and deletes machines and instances. */
async function play(running: Running, holdings: Holdings): Promise<void> {
  await running.add(
    virtualMachine('vm-a', { interfaces: { one: nic(1), two: nic(2, 'net-2') } }),
    virtualMachine('vm-b', { interfaces: { one: nic(3) } }),
    virtualMachine('vm-d', { interfaces: { one: [undefined, 'net-1'] } }),
  );
  running.startInstance('vm-d', { interfaces: { one: ['net-1', undefined, nic(7)[0]] } });
  await running.settle(500);
  holdings.look();
  await running.remove('VirtualMachine', 'vm-b');
  await running.add(virtualMachine('vm-c', { interfaces: { one: nic(4), two: nic(5, 'net-2') } }));
  running.stopInstance('vm-d');
  running.startInstance('vm-d', { interfaces: { one: ['net-1', undefined, nic(8)[0]] } });
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    spec: virtualMachine('vm-a', { interfaces: { one: nic(1), two: nic(6, 'net-2') } }).spec,
  }));
  await running.settle(500);
}

/** Ends all faults, and waits until everything has settled. */
async function heal(running: Running): Promise<void> {
  for (const resource of running.cluster.resources) {
    resource.writeFault = () => 'none';
    resource.failNext = 0;
  }
  await running.during(400_000, running.cluster.collectGarbage());
}

/** How many writes the story has when nothing fails. */
export async function writesOfCrashStory(): Promise<number> {
  const running = await cluster(NO_SABOTAGE);
  let writes = 0;
  for (const resource of running.cluster.resources) {
    resource.writeFault = () => {
      writes++;
      return 'none';
    };
  }
  await play(running, holdingsOf(running));
  await heal(running);
  return writes;
}

/** Kills the controller at one write, before or after it took effect. Returns the violations in the end. */
export async function playKilledAt(
  killAt: number,
  fault: 'lost-request' | 'lost-answer',
  sabotage = NO_SABOTAGE,
): Promise<StoryFault[]> {
  const running = await cluster(sabotage);
  const holdings = holdingsOf(running);
  let count = 0;
  let restarted: Promise<void> = Promise.resolve();
  for (const resource of running.cluster.resources) {
    resource.writeFault = () => {
      if (++count !== killAt) return 'none';
      restarted = running.restart();
      return fault;
    };
  }
  // A step of the story itself may be the one that fails.
  await play(running, holdings).catch(() => undefined);
  await restarted;
  await heal(running);
  return [...holdings.look(), ...checkEnd(running)];
}

interface CrashStory {
  readonly running: Running;
  readonly random: Random;
  /** A different machine at each step. */
  readonly index: number;
}

/** Only the controller's writes fail, not those of the story. */
type Act = (story: CrashStory) => void | Promise<void>;

function someMachine({ running, random }: CrashStory): string | undefined {
  const names = [...running.cluster.virtualMachines.objects.values()].map(({ metadata }) => metadata.name);
  return names[random(Math.max(1, names.length))];
}

const interfacesOf = ({ index, random }: CrashStory) => ({
  one: nic(index),
  ...(random(2) === 0 && { two: nic(index + 64, 'net-2') }),
});

const createMachine: Act = (story) => {
  const name = `vm-${story.index}`;
  const made = virtualMachine(name, { interfaces: interfacesOf(story) });
  story.running.cluster.virtualMachines.put({ ...made, metadata: { namespace: 'default', name, uid: name, generation: 1 } });
};

/** Without a MAC address; its instance has one. */
const createPlainMachine: Act = ({ running, index }) => {
  const name = `vm-${index}`;
  const made = virtualMachine(name, { interfaces: { one: [undefined, 'net-1'] } });
  running.cluster.virtualMachines.put({ ...made, metadata: { namespace: 'default', name, uid: name, generation: 1 } });
  running.startInstance(name, { interfaces: { one: ['net-1', undefined, nic(index)[0]] } });
};

/** Machines without a MAC address get another one. */
const restartInstance: Act = (story) => {
  const name = someMachine(story);
  const instance = story.running.cluster.virtualMachineInstances.objects.get(`default/${name}`);
  if (name === undefined || instance === undefined) return;
  story.running.stopInstance(name);
  story.running.startInstance(name, { interfaces: { one: ['net-1', undefined, nic(story.index)[0]] } });
};

const stopInstance: Act = (story) => {
  const name = someMachine(story);
  if (name !== undefined && story.running.networkConfig(name) !== undefined) story.running.stopInstance(name);
};

const deleteMachine: Act = (story) => {
  const name = someMachine(story);
  if (name === undefined) return;
  story.running.stopInstance(name);
  story.running.cluster.virtualMachines.remove(`default/${name}`);
  void story.running.cluster.collectGarbage().catch(() => undefined);
};

const changeMachine: Act = (story) => {
  const name = someMachine(story);
  if (name === undefined) return;
  const interfaces = interfacesOf(story);
  story.running.change('VirtualMachine', name, (vm) => ({ ...vm, spec: virtualMachine(name, { interfaces }).spec }));
};

const breakWatches: Act = ({ running, random }) => {
  for (const resource of running.cluster.resources) resource.closeWatches((['closed', 'failed', 'expired'] as const)[random(3)]);
};

const forgetHistory: Act = ({ running }) => {
  for (const resource of running.cluster.resources) resource.compact();
};

const failReads: Act = ({ running, random }) => {
  for (const resource of running.cluster.resources) resource.failNext = random(3);
};

const restart: Act = ({ running }) => running.restart();

const ACTS: readonly Act[] = [
  createMachine,
  createMachine,
  createPlainMachine,
  createPlainMachine,
  restartInstance,
  restartInstance,
  stopInstance,
  deleteMachine,
  changeMachine,
  breakWatches,
  forgetHistory,
  failReads,
  restart,
];

/** Plays lost writes, conflicts, dropped watches, forgotten history and restarts, from a seed. Returns the violations. */
export async function playCrashStory(seed: number, sabotage = NO_SABOTAGE): Promise<StoryFault[]> {
  const random = randomFrom(seed);
  const running = await cluster(sabotage);
  const holdings = holdingsOf(running);
  const faults: StoryFault[] = [];
  const look = () => void faults.push(...holdings.look());
  for (const resource of running.cluster.resources)
    resource.writeFault = () => (['lost-request', 'lost-answer', 'conflict'] as const)[random(12)] ?? 'none';
  running.cluster.ipPools.onWritten = look;
  for (let index = 0; index < STEPS; index++) {
    await ACTS[random(ACTS.length)]?.({ running, random, index });
    await running.settle(random(400));
    look();
  }
  // Ensures that at least one machine should have an address in the end.
  await createMachine({ running, random, index: STEPS });
  for (let round = 0; round < 3; round++) await heal(running);
  look();
  faults.push(...checkEnd(running));
  return faults.map(({ kind, message }) => ({ kind, message: `seed ${seed}: ${message}` }));
}
