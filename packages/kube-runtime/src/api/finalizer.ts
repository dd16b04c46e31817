/**
 * A finalizer keeps an object until a controller has cleaned up after it. A patch replaces the whole list, so it is guarded by the version that was
 * read: an entry that another controller adds meanwhile must not be lost.
 */
import { keyOf } from '../object/api-object.js';
import { isBeingDeleted, type KubernetesObject } from '../object/kubernetes-object.js';
import type { MergePatch, WriteTarget } from './object-client.js';

/** The object whose finalizers change, and the patch. */
export interface FinalizerWrite {
  readonly target: WriteTarget;
  readonly patch: MergePatch;
}

/** Undefined if the object already has it, or is being deleted: the server refuses new finalizers then. */
export function planFinalizer(object: KubernetesObject, name: string): FinalizerWrite | undefined {
  const { finalizers = [] } = object.metadata;
  return finalizers.includes(name) || isBeingDeleted(object) ? undefined : write(object, [...finalizers, name]);
}

/** Write it only after the clean-up has succeeded. Undefined if the object does not have the finalizer. */
export function planFinalizerRemoval(object: KubernetesObject, name: string): FinalizerWrite | undefined {
  const { finalizers = [] } = object.metadata;
  return finalizers.includes(name)
    ? write(
        object,
        finalizers.filter((one) => one !== name),
      )
    : undefined;
}

/** @throws TypeError for an object without a version, which was never read from a server. */
function write(object: KubernetesObject, finalizers: readonly string[]): FinalizerWrite {
  const { resourceVersion } = object.metadata;
  if (resourceVersion === undefined) throw new TypeError(`${keyOf(object)} has no resourceVersion`);
  return { target: { key: keyOf(object), resourceVersion }, patch: { metadata: { finalizers } } };
}
