import type { WriteResult } from '../api/object-client.js';
import type { ReconcileResult } from './keyed-queue.js';

/** A newer state is on its way and explains the refusal, so a person need not know. */
export const CONFLICT = 'conflict';
/** A webhook may decide differently later. */
const REFUSED_RETRY_MS = 30_000;

/**
 * The result that a reconciler returns after a write. After a conflict, or if the object is missing, a change is on its way: the key is retried with
 * back-off, and at once when the change arrives. If the server does not accept or permit the write, a person must act.
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
