// A worker of `npm test -- seeds`: plays runs by their numbers, from the TypeScript sources of the tests.
import { parentPort } from 'node:worker_threads';
import './typescript-sources.mjs';

const RECONCILER = '../packages/reconciler/src';
const { playCrashStory } = await import(`${RECONCILER}/controller/crash-story-fixtures.ts`);
const { playLateStory, playOrphanStory, playRandomStory } = await import(`${RECONCILER}/controller/random-story-fixtures.ts`);
const { playTopologyStory } = await import(`${RECONCILER}/agents/topology-story-fixtures.ts`);
const { playWakeStory } = await import('../packages/wake-on-lan/src/decision/wake-story-fixtures.ts');
const { playAgentStory } = await import('../packages/dhcp-agent/src/agent/agent-story-fixtures.ts');
const KINDS = [playCrashStory, playRandomStory, playLateStory, playOrphanStory, playAgentStory, playTopologyStory, playWakeStory];

/** Crash stories and random stories of the controller, stories of agents, of topologies and of wake-ups in turn; each kind has its seeds from 0. */
async function play(run) {
  const seed = Math.floor(run / KINDS.length);
  try {
    return await KINDS[run % KINDS.length](seed);
  } catch (error) {
    return [{ kind: 'other', message: `seed ${seed}: ${error.stack}` }];
  }
}

async function playAll({ first, end }) {
  const faults = [];
  for (let run = first; run < end; run++) {
    for (const fault of await play(run)) faults.push({ run, ...fault });
  }
  parentPort.postMessage({ count: end - first, faults });
}

parentPort.on('message', (block) => void playAll(block));
