import type { WriteResult } from '../api/object-client.js';
import type { ReconcileResult } from './keyed-queue.js';

/** A newer state is on its way, and explains the refusal: no failure that a person need learn of. */
export const CONFLICT = 'conflict';
/** A webhook may decide otherwise later. */
const REFUSED_RETRY_MS = 30_000;

/**
 * What a reconciler returns after a write. After a conflict, or where the object is missing, a change is on its way: it is tried again,
 * later each time, and at once when the change arrives. What the server does not accept or does not permit is for people.
 */
export function toReconcileResult(result: WriteResult<unknown>, done: ReconcileResult = { kind: 'settled' }): ReconcileResult {
  if (result.ok) return done;
  switch (result.reason) {
    case 'conflict':
    case 'not-found':
    case 'already-exists':
      return { kind: 'retry', reason: CONFLICT };
    case 'parent-not-found':
      return { kind: 'retry', reason: result.message };
    case 'invalid':
      return { kind: 'terminal', reason: result.message, recheckAfterMs: REFUSED_RETRY_MS };
    case 'forbidden':
      return { kind: 'retry', reason: `forbidden: ${result.message}` };
  }
}
