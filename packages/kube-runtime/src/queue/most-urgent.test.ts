import { describe, expect, it } from 'vitest';
import type { ReconcileResult } from './keyed-queue.js';
import { mostUrgent } from './most-urgent.js';

describe('mostUrgent', () => {
  const retry: ReconcileResult = { kind: 'retry', reason: 'conflict' };
  const soon: ReconcileResult = { kind: 'recheck', afterMs: 10 };
  const later: ReconcileResult = { kind: 'recheck', afterMs: 20 };
  const refused: ReconcileResult = { kind: 'terminal', reason: 'invalid', recheckAfterMs: 30 };
  const never: ReconcileResult = { kind: 'terminal', reason: 'invalid' };
  const settled: ReconcileResult = { kind: 'settled' };
  const byUrgency = [retry, soon, later, refused, never, settled];

  it('is the result that needs attention sooner, in whatever order they come', () => {
    for (const [index, one] of byUrgency.entries()) {
      for (const other of byUrgency.slice(index)) {
        expect(mostUrgent(one, other)).toBe(one);
        expect(mostUrgent(other, one)).toBe(one);
      }
    }
  });

  it('is the first of two equally urgent results', () => {
    for (const one of byUrgency) {
      const other = { ...one };
      expect(mostUrgent(one, other)).toBe(one);
      expect(mostUrgent(other, one)).toBe(other);
    }
  });
});
