/**
 * A finalizer keeps an object until a controller has cleaned up after it. Only the controller's own entry is added or removed, at the
 * version that was read: the list is replaced as a whole, and an entry that another controller adds meanwhile must not be lost.
 */
import { keyOf } from '../object/api-object.js';
import { isBeingDeleted, type KubernetesObject } from '../object/kubernetes-object.js';
import type { MergePatch, WriteTarget } from './object-client.js';

export interface FinalizerWrite {
  readonly target: WriteTarget;
  readonly patch: MergePatch;
}

/** Undefined: the object has it. An object that is being deleted gets no finalizer any more: the server refuses it. */
export function planFinalizer(object: KubernetesObject, name: string): FinalizerWrite | undefined {
  const { finalizers = [] } = object.metadata;
  return finalizers.includes(name) || isBeingDeleted(object) ? undefined : write(object, [...finalizers, name]);
}

/** To be written when the clean-up has succeeded, and not before. Undefined: the object does not have it. */
export function planFinalizerRemoval(object: KubernetesObject, name: string): FinalizerWrite | undefined {
  const { finalizers = [] } = object.metadata;
  return finalizers.includes(name)
    ? write(
        object,
        finalizers.filter((one) => one !== name),
      )
    : undefined;
}

/** @throws TypeError for an object without a version: it was never read from a server. */
function write(object: KubernetesObject, finalizers: readonly string[]): FinalizerWrite {
  const { resourceVersion } = object.metadata;
  if (resourceVersion === undefined) throw new TypeError(`${keyOf(object)} has no resourceVersion`);
  return { target: { key: keyOf(object), resourceVersion }, patch: { metadata: { finalizers } } };
}
