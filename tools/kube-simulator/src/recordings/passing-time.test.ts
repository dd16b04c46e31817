import { expect, it } from 'vitest';
import { PassingTime } from './passing-time.js';

it('runs what is due, in order of time, and nothing before its time or after it was cancelled', () => {
  const time = new PassingTime();
  const ran: string[] = [];
  const at = (ms: number, name: string) => time.timer(ms, () => ran.push(name));
  at(2_000, 'b');
  at(1_000, 'a');
  at(2_000, 'b again');
  const cancel = at(1_500, 'never');
  cancel();
  time.pass(1_999);
  expect(ran).toEqual(['a']);
  time.pass(1);
  expect(ran).toEqual(['a', 'b', 'b again']);
});

it('runs what an action schedules within the same stretch of time, from the moment of that action on', () => {
  const time = new PassingTime();
  let count = 0;
  const again = (): void => {
    count += 1;
    time.timer(60_000, again);
  };
  time.timer(60_000, again);
  time.pass(180_000);
  expect(count).toBe(3);
});
