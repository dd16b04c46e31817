import { describe, expect, it } from 'vitest';
import { MessageCounters } from './message-counters.js';

describe('message counters', () => {
  it('are empty at first', () => {
    const counters = new MessageCounters();
    expect([[...counters.messages()], counters.dropped().size, counters.omittedOptions]).toEqual([[], 0, 0]);
  });

  it('count by type, outcome and reason', () => {
    const counters = new MessageCounters();
    for (const reason of ['unknown', 'unknown', 'paused']) counters.count('discover', 'ignored', reason);
    counters.count('discover', 'offer', '');
    counters.count('request', 'offer', '');
    expect([...counters.messages()]).toEqual([
      { type: 'discover', outcome: 'ignored', reason: 'unknown', count: 2 },
      { type: 'discover', outcome: 'ignored', reason: 'paused', count: 1 },
      { type: 'discover', outcome: 'offer', reason: '', count: 1 },
      { type: 'request', outcome: 'offer', reason: '', count: 1 },
    ]);
  });

  it('count packets that are no messages, one or many at a time', () => {
    const counters = new MessageCounters();
    counters.drop('too-short');
    counters.drop('send-failed', 5);
    counters.drop('send-failed');
    expect([...counters.dropped()]).toEqual([
      ['too-short', 1],
      ['send-failed', 6],
    ]);
  });

  it('count options that a reply had no room for', () => {
    const counters = new MessageCounters();
    counters.omitOptions(2);
    counters.omitOptions(3);
    expect(counters.omittedOptions).toBe(5);
  });
});
