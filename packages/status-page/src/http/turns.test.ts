import { describe, expect, it } from 'vitest';
import type { Pause } from '../lists/pause.js';
import { Turns } from './turns.js';

const of = (user: string, isWaiting = () => true) => ({ user, isWaiting });

/** A name for each slice, as it begins. */
function slices(log: string[], name: string, count: number) {
  return async (pause: Pause) => {
    for (let slice = 0; slice < count; slice++) {
      if (slice > 0) await pause();
      log.push(name);
    }
    return name;
  };
}

describe('answers that take long', () => {
  it('run one slice at a time, and other work of the process runs in between', async () => {
    const turns = new Turns();
    let round = 0;
    let isOver = false;
    const next = (): void => {
      round++;
      if (!isOver) setImmediate(next);
    };
    next();
    const rounds: number[] = [];
    const work = async (pause: Pause) => {
      for (let slice = 0; slice < 5; slice++) {
        rounds.push(round);
        await pause();
      }
    };
    await Promise.all(Array.from({ length: 10 }, () => turns.take(of('ann'), work)));
    isOver = true;
    expect(rounds).toHaveLength(50);
    expect(new Set(rounds).size).toBe(50);
    expect(rounds.toSorted((one, other) => one - other)).toEqual(rounds);
  });

  it('users take turns: a thousand slices of one user wait for a single one of another', async () => {
    const turns = new Turns();
    const log: string[] = [];
    const flood = Array.from({ length: 100 }, () => turns.take(of('mallory'), slices(log, 'mallory', 10)));
    const answer = turns.take(of('ann'), slices(log, 'ann', 2));
    expect(await answer).toBe('ann');
    expect(log).toEqual(['mallory', 'ann', 'mallory', 'ann']);
    await Promise.all(flood);
    expect(log).toHaveLength(1_002);
  });

  it("a user's requests are answered in order", async () => {
    const turns = new Turns();
    const log: string[] = [];
    await Promise.all(['one', 'two', 'three'].map((name) => turns.take(of('ann'), slices(log, name, 3))));
    expect(log).toEqual(['one', 'one', 'one', 'two', 'two', 'two', 'three', 'three', 'three']);
  });

  it('a failure does not affect others, at once or after a pause', async () => {
    const turns = new Turns();
    const work = [
      () => {
        throw new Error('at once');
      },
      async (pause: Pause) => {
        await pause();
        throw new Error('later');
      },
      () => 'done',
    ];
    const results = await Promise.allSettled(work.map((one) => turns.take(of('ann'), one)));
    expect(results).toMatchObject([
      { reason: new Error('at once') },
      { reason: new Error('later') },
      { status: 'fulfilled', value: 'done' },
    ]);
    expect(await turns.take(of('ann'), () => 'again')).toBe('again');
  });

  it('work for a closed connection is neither begun nor continued', async () => {
    const turns = new Turns();
    const log: string[] = [];
    let isOpen = true;
    const begun = turns.take(
      of('ann', () => isOpen),
      async (pause) => {
        log.push('begun');
        isOpen = false;
        await pause();
        log.push('gone on');
      },
    );
    const next = turns.take(
      of('ann', () => isOpen),
      () => log.push('next'),
    );
    const other = turns.take(of('ann'), () => 'other');
    await expect(begun).rejects.toMatchObject({ status: 503 });
    await expect(next).rejects.toMatchObject({ status: 503 });
    expect(await other).toBe('other');
    expect(log).toEqual(['begun']);
  });
});
