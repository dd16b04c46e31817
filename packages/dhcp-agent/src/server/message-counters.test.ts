import { expect, it } from 'vitest';
import { MessageCounters } from './message-counters.js';

it('counts messages by type, outcome and reason, and each of them apart', () => {
  const counters = new MessageCounters();
  counters.count('discover', 'offer', '');
  counters.count('discover', 'ignored', 'unknown-client');
  counters.count('discover', 'ignored', 'standing-by');
  counters.count('discover', 'ignored', 'standing-by');
  counters.count('request', 'ignored', 'standing-by');
  expect([...counters.messages()]).toEqual([
    { type: 'discover', outcome: 'offer', reason: '', count: 1 },
    { type: 'discover', outcome: 'ignored', reason: 'unknown-client', count: 1 },
    { type: 'discover', outcome: 'ignored', reason: 'standing-by', count: 2 },
    { type: 'request', outcome: 'ignored', reason: 'standing-by', count: 1 },
  ]);
});

it('counts packets that are dropped, several at a time where they are lost together', () => {
  const counters = new MessageCounters();
  counters.drop('no-pool-here');
  counters.drop('send-failed', 3);
  counters.drop('send-failed');
  expect([...counters.dropped()]).toEqual([
    ['no-pool-here', 1],
    ['send-failed', 4],
  ]);
});

it('sums the options that replies had no room for', () => {
  const counters = new MessageCounters();
  expect(counters.omittedOptions).toBe(0);
  counters.omitOptions(2);
  counters.omitOptions(3);
  expect(counters.omittedOptions).toBe(5);
});
