import { describe, expect, it } from 'vitest';
import type { WorkResult } from './keyed-queue.js';
import { mostUrgent } from './most-urgent.js';

describe('mostUrgent', () => {
  const retry: WorkResult = { kind: 'retry', reason: 'conflict' };
  const soon: WorkResult = { kind: 'recheck', afterMs: 10 };
  const later: WorkResult = { kind: 'recheck', afterMs: 20 };
  const refused: WorkResult = { kind: 'terminal', reason: 'invalid', recheckAfterMs: 30 };
  const never: WorkResult = { kind: 'terminal', reason: 'invalid' };
  const settled: WorkResult = { kind: 'settled' };
  const byUrgency = [retry, soon, later, refused, never, settled];

  it('of any two it is the one that has to be looked at sooner, in whatever order they come', () => {
    for (const [index, one] of byUrgency.entries()) {
      for (const other of byUrgency.slice(index)) {
        expect(mostUrgent(one, other)).toBe(one);
        expect(mostUrgent(other, one)).toBe(one);
      }
    }
  });
});
