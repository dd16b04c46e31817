import { expect, it } from 'vitest';
import type { WriteRefusal } from '../api/object-client.js';
import type { ReconcileResult } from './keyed-queue.js';
import { toReconcileResult } from './to-reconcile-result.js';

it.each<[WriteRefusal, ReconcileResult]>([
  ['conflict', { kind: 'retry', reason: 'conflict' }],
  ['not-found', { kind: 'retry', reason: 'conflict' }],
  ['already-exists', { kind: 'retry', reason: 'conflict' }],
  ['parent-not-found', { kind: 'retry', reason: 'why' }],
  ['invalid', { kind: 'terminal', reason: 'why', recheckAfterMs: 30_000 }],
  ['forbidden', { kind: 'retry', reason: 'forbidden: why' }],
])('a write that is refused with %s', (reason, expected) => {
  expect(toReconcileResult({ ok: false, reason, message: 'why' })).toEqual(expected);
});

it('a successful write is settled, or returns the result of the reconciler', () => {
  expect(toReconcileResult({ ok: true, object: {} })).toEqual({ kind: 'settled' });
  expect(toReconcileResult({ ok: true, object: {} }, { kind: 'recheck', afterMs: 5 })).toEqual({ kind: 'recheck', afterMs: 5 });
});
