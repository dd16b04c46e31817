import { expect, it } from 'vitest';
import { FakeClock } from './fake-clock.js';

it('a long chain of promises ends before time advances', async () => {
  const clock = new FakeClock();
  const log: string[] = [];
  const chain = async () => {
    for (let turn = 0; turn < 200; turn++) await Promise.resolve();
    log.push('chain');
  };
  clock.after(10, () => void chain());
  clock.after(20, () => log.push('later'));
  await clock.advance(30);
  expect(log).toEqual(['chain', 'later']);
});
