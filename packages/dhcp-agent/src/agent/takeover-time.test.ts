/** README: "When an agent dies, another agent ... has the server addresses within three seconds." In simulated time, with requests that take their time. */
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { AgentWorld } from './agent-world-fixtures.js';

const PROMISED_MS = 3_000;
const STEP_MS = 10;

/** How long after the death of the leader the standby has the server address; undefined if longer than promised. */
async function takeoverMs(seed: number): Promise<number | undefined> {
  const random = randomFrom(seed);
  const world = new AgentWorld();
  const pool = world.addPool();
  const lease = world.addGroup();
  const settings = { random: () => random(1_000_000) / 1_000_000 };
  const a = world.startPod('a', lease, settings);
  await world.pass(1_000);
  const b = world.startPod('b', lease, settings);
  for (const pod of [a, b]) pod.fate = () => ({ thereMs: random(20), backMs: random(20) });
  await world.pass(5_000 + random(3_000));
  if (world.holders(pool).join() !== 'a') throw new Error('a is not the leader');
  a.process.kill();
  for (let passedMs = STEP_MS; passedMs <= PROMISED_MS; passedMs += STEP_MS) {
    await world.pass(STEP_MS);
    if (world.holders(pool).includes('b')) return passedMs;
  }
  return undefined;
}

it('law, 200 seeds: another agent has the server address within three seconds after its leader died, whenever that is', async () => {
  const times: (number | undefined)[] = [];
  for (let seed = 0; seed < 200; seed++) times.push(await takeoverMs(seed));
  expect(times).not.toContain(undefined);
});
