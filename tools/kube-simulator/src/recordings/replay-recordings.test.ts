import { describe, expect, it } from 'vitest';
import { FIXTURES, readRecordings, replayScenario } from './replay-recordings.js';
import { scenarioNumber } from './transcript.js';

const recordings = readRecordings(FIXTURES);
/** Several seconds of a scenario are waiting: for a webhook that does not answer, for controllers. */
const PATIENCE_MS = 60_000;

describe.concurrent('the simulator answers as the recorded API server did, but for the accepted differences', () => {
  it.each(recordings.transcripts)('$scenario', { timeout: PATIENCE_MS }, async (transcript) => {
    const { differences, stale, steps } = await replayScenario(transcript, recordings);
    expect(differences.filter(({ reason }) => reason === undefined)).toEqual([]);
    expect(stale).toEqual([]);
    expect(steps).toBeGreaterThan(0);
  });
});

it('all 20 scenarios are replayed, and every accepted difference is in one of them', () => {
  const numbers = recordings.transcripts.map(scenarioNumber);
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => String(index + 1).padStart(2, '0')));
  expect(recordings.accepted.filter(({ scenario }) => !numbers.includes(scenario))).toEqual([]);
});
