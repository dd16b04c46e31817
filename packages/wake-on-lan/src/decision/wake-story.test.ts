import { describe, expect, it } from 'vitest';
import { playWakeStory, type StoryFault } from './wake-story-fixtures.js';

/** `npm test -- seeds` plays thousands. */
const SEEDS = 20;

it('whichever manager crashes and whatever is lost, a wakeable machine is started exactly once, and no other one', async () => {
  const found: StoryFault[] = [];
  for (let seed = 0; seed < SEEDS; seed++) found.push(...(await playWakeStory(seed)));
  expect(found).toEqual([]);
}, 120_000);

describe('stories detect a manager that', () => {
  it('says that it has started machines, and never calls KubeVirt', async () => {
    const messages = await faultsOf({ start: async () => ({ ok: true }) });
    expect(messages).toContainEqual(expect.stringMatching(/was started 0 times, not 1 to 1$/));
  });

  it('says that it has continued machines, and never calls KubeVirt', async () => {
    const messages = await faultsOf({ unpause: async () => ({ ok: true }) });
    expect(messages).toContainEqual(expect.stringMatching(/was continued 0 times, not 1$/));
  });
});

async function faultsOf(faulty: Parameters<typeof playWakeStory>[1]): Promise<string[]> {
  const stories = await Promise.all(Array.from({ length: 10 }, (_, seed) => playWakeStory(seed, faulty)));
  return stories.flat().map(({ message }) => message);
}
