import { expect, it } from 'vitest';
import { FakeClock } from './fake-clock.js';

it('a chain of many promises comes to its end before time goes on', async () => {
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
