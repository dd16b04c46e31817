import { expect, it } from 'vitest';
import { playLateStory, playOrphanStory, playRandomStory } from './random-story-fixtures.js';
import type { StoryFault } from './story-fixtures.js';

/** `npm test -- seeds` plays thousands. */
const SEEDS = 8;

it('whatever happens, the final state is correct, and no address goes from one machine to another', async () => {
  const found: StoryFault[] = [];
  for (let seed = 0; seed < SEEDS; seed++) found.push(...(await playRandomStory(seed)));
  expect(found).toEqual([]);
}, 120_000);

it.each([163, 1316, 1408, 1475, 2330, 2586, 2812, 3618, 19_072, 71_459])(
  'the story of seed %i, which once ended badly',
  async (seed) => {
    expect(await playRandomStory(seed)).toEqual([]);
  },
);

it('the same holds if the events of each kind come late independently', async () => {
  const found: StoryFault[] = [];
  for (let seed = 0; seed < SEEDS / 2; seed++) found.push(...(await playLateStory(seed)));
  expect(found).toEqual([]);
}, 120_000);

it('a config that a person orphaned keeps its addresses, however late the events come', async () => {
  const found: StoryFault[] = [];
  for (let seed = 0; seed < SEEDS / 2; seed++) found.push(...(await playOrphanStory(seed)));
  expect(found).toEqual([]);
}, 120_000);

it('the story of seed 46230 with an orphaned config, which once ended badly', async () => {
  expect(await playOrphanStory(46_230)).toEqual([]);
});

it.each([107, 368, 1214, 100_012, 100_646, 118_055])(
  'the story of seed %i with late news, which once ended badly',
  async (seed) => {
    expect(await playLateStory(seed)).toEqual([]);
  },
);
