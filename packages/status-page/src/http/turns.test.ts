import { describe, expect, it } from 'vitest';
import { Turns } from './turns.js';

describe('answers that take long', () => {
  it('come one at a time, in order, and other work of the process has its turn between two of them', async () => {
    const turns = new Turns();
    let round = 0;
    let isOver = false;
    const next = (): void => {
      round++;
      if (!isOver) setImmediate(next);
    };
    next();
    const rounds = await Promise.all(Array.from({ length: 50 }, () => turns.take(() => round)));
    isOver = true;
    expect(new Set(rounds).size).toBe(50);
    expect(rounds.toSorted((one, other) => one - other)).toEqual(rounds);
  });

  it('one that fails fails alone', async () => {
    const turns = new Turns();
    const failed = turns.take(() => Promise.reject(new Error('no')));
    const done = turns.take(() => 'done');
    await expect(failed).rejects.toThrow('no');
    expect(await done).toBe('done');
  });

  it('have a bound, and go on when there is room again', async () => {
    const turns = new Turns();
    const waiting = Array.from({ length: 256 }, () => turns.take(() => 1));
    await expect(turns.take(() => 1)).rejects.toMatchObject({ status: 429, reason: 'too-many-requests' });
    await Promise.all(waiting);
    expect(await turns.take(() => 2)).toBe(2);
  });
});
