import { planFinalizer, planFinalizerRemoval } from '../api/finalizer.js';
import type { ObjectClient } from '../api/object-client.js';
import { isBeingDeleted, type KubernetesObject } from '../object/kubernetes-object.js';
import type { ReconcileResult } from './keyed-queue.js';
import { toReconcileResult } from './to-reconcile-result.js';

/** How an object with a finalizer is reconciled, and what is cleaned up before it goes. */
export interface FinalizedReconciler {
  /** As in `example.com/clean-up`. */
  readonly finalizer: string;
  readonly client: Pick<ObjectClient<KubernetesObject>, 'patch'>;
  /** Receives the answer to every write: `wrote` of the cache. */
  readonly onWritten?: (object: KubernetesObject) => void;
  /** Called when the object has the finalizer and is not being deleted. */
  readonly reconcile: (object: KubernetesObject) => Promise<ReconcileResult>;
  /** Called when the object is being deleted. The finalizer is removed only if it returns `settled`. */
  readonly cleanUp: (object: KubernetesObject) => Promise<ReconcileResult>;
}

/** Reconciles an object with a finalizer: it is written before anything is reconciled, and removed only after the clean-up has succeeded. */
export async function reconcileWithFinalizer(
  object: KubernetesObject,
  reconciler: FinalizedReconciler,
): Promise<ReconcileResult> {
  if (isBeingDeleted(object)) return await release(object, reconciler);
  const { finalizer, client, onWritten, reconcile } = reconciler;
  const write = planFinalizer(object, finalizer);
  if (write === undefined) return await reconcile(object);
  const result = await client.patch(write.target, write.patch);
  if (!result.ok) return toReconcileResult(result);
  onWritten?.(result.object);
  return await reconcile(result.object);
}

async function release(
  object: KubernetesObject,
  { finalizer, client, onWritten, cleanUp }: FinalizedReconciler,
): Promise<ReconcileResult> {
  const write = planFinalizerRemoval(object, finalizer);
  if (write === undefined) return { kind: 'settled' };
  const cleaned = await cleanUp(object);
  if (cleaned.kind !== 'settled') return cleaned;
  const result = await client.patch(write.target, write.patch);
  if (result.ok) onWritten?.(result.object);
  return result.ok || result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
}
