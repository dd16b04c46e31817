import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { RepeatedFailures } from './repeated-failures.js';

function failures() {
  const clock = new FakeClock();
  const reported: unknown[] = [];
  return { clock, reported, failures: new RepeatedFailures(clock, (error) => reported.push(error)) };
}

it('reports each of several alternating failures once a minute', async () => {
  const { clock, reported, failures: repeated } = failures();
  const fail = () => {
    for (let asked = 0; asked < 10; asked++) {
      repeated.report('events is forbidden');
      repeated.report('hoststatuses is forbidden');
    }
  };
  fail();
  expect(reported).toEqual(['events is forbidden', 'hoststatuses is forbidden']);
  await clock.advance(60_000);
  fail();
  expect(reported).toHaveLength(4);
});

it('reports ten failures a minute if the text differs each time', async () => {
  const { clock, reported, failures: repeated } = failures();
  for (let asked = 0; asked < 1_000; asked++) repeated.report(`request ${asked} failed`);
  expect(reported).toHaveLength(10);
  await clock.advance(60_000);
  repeated.report('another one');
  expect(reported.at(-1)).toBe('another one');
});
