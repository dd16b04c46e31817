import { expect, it } from 'vitest';
import { playWakeStory, type StoryFault } from './wake-story-fixtures.js';

/** `VMDHCP_STORIES=2000` plays more. */
const SEEDS = Number(process.env['VMDHCP_STORIES'] ?? 40);
const FIRST = Number(process.env['VMDHCP_STORIES_FIRST'] ?? 0);

it('whichever manager crashes and whatever is lost, a machine that may be woken is started exactly once, and no other one', async () => {
  const found: StoryFault[] = [];
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) found.push(...(await playWakeStory(seed)));
  expect(found).toEqual([]);
}, 120_000);
