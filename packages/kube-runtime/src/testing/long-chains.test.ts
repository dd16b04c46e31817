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

it('a chain ends before each of many timers, and at the end', async () => {
  const clock = new FakeClock();
  const log: number[] = [];
  const chain = async (number: number) => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    log.push(number);
  };
  for (let number = 0; number < 100; number++)
    clock.after(number, () => {
      expect(log).toHaveLength(number);
      void chain(number);
    });
  await clock.advance(99);
  expect(log).toHaveLength(100);
});

it('an error of a timer is that of the advance', async () => {
  const clock = new FakeClock();
  clock.after(10, () => {
    throw new Error('from a timer');
  });
  await expect(clock.advance(30)).rejects.toThrow('from a timer');
});
