import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { untilNext } from './until-next.js';

const LONG_MS = 60_000;

describe('the wait for the next round', () => {
  it('ends at once if the process was told to end during a request', async () => {
    await expect(untilNext(AbortSignal.abort(), LONG_MS)).resolves.toBeUndefined();
  });

  it('ends when the process is told to end', async () => {
    const asked = new AbortController();
    const waiting = untilNext(asked.signal, LONG_MS);
    asked.abort();
    await expect(waiting).resolves.toBeUndefined();
  });

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    for (let round = 0; round < 3; round++) await untilNext(signal, 1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
