/**
 * Stories by seed: virtual machines, their instances, pools and people do whatever they can, watches lag and break, writes are lost, and the
 * controller is killed. The same seed plays the same story. The final state must be correct.
 *
 * In stories with late news each kind has a lag of its own, up to a minute: the watches of two kinds are not ordered with each other.
 */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { network } from '../fixtures/object-fixtures.js';
import type { Running } from './controller-fixtures.js';
import { changeWhileShuttingDown, copyThenRestart, endInstance, startInstance } from './random-instance-acts-fixtures.js';
import {
  changeMachine,
  copyMachine,
  createMachine,
  createPlainMachine,
  deleteConfig,
  deleteMachine,
  orphanMachine,
  pauseConfig,
  pinMachine,
  remakeMachine,
  shareAcrossNetworks,
} from './random-machine-acts-fixtures.js';
import { changePool, pausePool, removeOrRemakePool, secondPool } from './random-pool-acts-fixtures.js';
import { checkEnd } from './random-story-end-fixtures.js';
import { type Act, NETWORKS, Story } from './random-story-state-fixtures.js';
import { other, type StoryFault } from './story-fixtures.js';

const STEPS = 25;
const LAG_MS = 20;
/** The longest lag of a kind in stories with late events. */
const LATE_LAGS_MS = [0, 0, LAG_MS, 1_000, 10_000, 60_000];
/** The longest time between two steps. */
const PAUSE_MS = 60;
const LATE_PAUSES_MS = [PAUSE_MS, PAUSE_MS, 2_000, 30_000];
/** Long enough for all events, and for the events of writes that they cause. */
const REST_MS = 60_000;
const LATE_REST_MS = 240_000;

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

/** The topics of stories, in turn. */
const FAMILIES: readonly (readonly Act[])[] = [
  MACHINES,
  COPIES,
  INSTANCES,
  [...MACHINES, ...POOLS],
  [...COPIES, ...INSTANCES],
  [...POOLS, ...COPIES, ...INSTANCES],
];

/** Plays the story of a seed; in two of three the watches lag a little. Returns all violations. */
export async function playRandomStory(seed: number): Promise<StoryFault[]> {
  const story = new Story(seed);
  const { running, cluster, random } = story;
  const lag = random(3) === 0 ? 0 : LAG_MS;
  if (lag > 0) for (const resource of cluster.resources) slowWatch(running, resource, () => random(lag));
  return await play(story, { seed, acts: actsOf(seed), mostPauseMs: () => PAUSE_MS, restMs: REST_MS });
}

/** The same, with late events. */
export function playLateStory(seed: number): Promise<StoryFault[]> {
  return playWithLateNews(seed, actsOf(seed));
}

/** The same, and people delete virtual machines and orphan their configs. */
export function playOrphanStory(seed: number): Promise<StoryFault[]> {
  const acts = actsOf(seed);
  return playWithLateNews(seed, [...acts, ...acts.slice(0, acts.length / 4).map(() => orphanMachine)]);
}

async function playWithLateNews(seed: number, acts: readonly Act[]): Promise<StoryFault[]> {
  const story = new Story(seed);
  const { running, cluster, random } = story;
  for (const resource of cluster.resources) {
    const lag = LATE_LAGS_MS[random(LATE_LAGS_MS.length)] ?? 0;
    if (lag > 0) slowWatch(running, resource, () => random(lag));
  }
  const mostPauseMs = () => LATE_PAUSES_MS[random(LATE_PAUSES_MS.length)] ?? PAUSE_MS;
  return await play(story, { seed, acts, mostPauseMs, restMs: LATE_REST_MS });
}

function actsOf(seed: number): readonly Act[] {
  return FAMILIES[seed % FAMILIES.length] ?? MACHINES;
}

interface Pace {
  readonly seed: number;
  readonly acts: readonly Act[];
  readonly mostPauseMs: () => number;
  readonly restMs: number;
}

async function play(story: Story, { seed, acts, mostPauseMs, restMs }: Pace): Promise<StoryFault[]> {
  await begin(story);
  await tell(story, acts, mostPauseMs);
  await comeToRest(story, restMs);
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

/** Writes fail in one of four stories. */
async function begin({ running, random, cluster, pools }: Story): Promise<void> {
  await running.add(...NETWORKS.map((net) => network(net)), ...Object.values(pools));
  await running.started();
  if (random(4) > 0) return;
  for (const resource of cluster.resources)
    resource.writeFault = () => (['lost-request', 'lost-answer', 'conflict'] as const)[random(12)] ?? 'none';
}

async function tell(story: Story, acts: readonly Act[], mostPauseMs: () => number): Promise<void> {
  const { running, random, cluster } = story;
  cluster.ipPools.onWritten = () => story.look();
  for (let step = 0; step < STEPS; step++) {
    await acts[random(acts.length)]?.(story);
    await running.settle(random(mostPauseMs()));
    story.look();
  }
}

/** Delays events, in order. */
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

/** An address that a guest may still use on a former network is kept for an hour. */
async function untilGuestsHaveLeft(running: Running): Promise<void> {
  running.hasWallClock = true;
  await running.settle(3_700_000);
  running.hasWallClock = false;
}

async function comeToRest(story: Story, restMs: number): Promise<void> {
  const { running, cluster } = story;
  for (const resource of cluster.resources) resource.writeFault = () => 'none';
  for (let round = 0; round < 2; round++) {
    story.collectGarbage();
    await running.settle(restMs);
  }
  if (story.isLeaving()) await untilGuestsHaveLeft(running);
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
