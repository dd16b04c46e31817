import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { nextTurn } from './next-turn.js';

it('other work of the process runs between any two slices, however many requests wait', async () => {
  const log: string[] = [];
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      await setImmediate();
      log.push('other');
    }
  })();
  const request = async () => {
    for (let slice = 0; slice < 5; slice++) {
      await nextTurn();
      log.push('slice');
    }
  };
  await Promise.all(Array.from({ length: 20 }, request));
  isOver = true;
  await others;
  expect(log.filter((what) => what === 'slice')).toHaveLength(100);
  expect(log.join(' ')).not.toContain('slice slice');
});
