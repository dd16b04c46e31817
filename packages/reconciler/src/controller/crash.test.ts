/** Whatever happens to the controller, its writes and its watches: no address has two owners, none leaks, none changes. */
import { describe, expect, it } from 'vitest';
import { playCrashStory, playKilledAt, writesOfCrashStory } from './crash-story-fixtures.js';

describe('the controller is killed at every write in turn', () => {
  it.each(['lost-request', 'lost-answer'] as const)('%s', async (fault) => {
    const writes = await writesOfCrashStory();
    expect(writes).toBeGreaterThan(10);
    for (let killAt = 1; killAt <= writes; killAt++) expect(await playKilledAt(killAt, fault), `at write ${killAt}`).toEqual([]);
  });
});

/** `npm run test:seeds` plays thousands. */
describe('20 seeds of lost writes, conflicts, dropped watches, forgotten history and restarts', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => seed))('seed %i', async (seed) => {
    expect(await playCrashStory(seed)).toEqual([]);
  });
});
