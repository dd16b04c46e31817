import type { KubernetesObject } from './kubernetes-object.js';
import { readText } from './read-field.js';

/** True if an owner of this kind is named that is not this object, but one of the same name before it. Never throws. */
export function isOwnedByAnother(
  { metadata: { ownerReferences = [] } }: KubernetesObject,
  { kind, uid }: { readonly kind: string; readonly uid: string | undefined },
): boolean {
  const owners = Array.isArray(ownerReferences) ? ownerReferences : [];
  return owners.some((owner) => readText(owner, 'kind') === kind && readText(owner, 'uid') !== uid);
}
