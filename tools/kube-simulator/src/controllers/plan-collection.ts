import { isDeleting, type KubeObject, type OwnerReference } from './workload-kinds.js';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** The state of an owner that an object names. */
export type OwnerState =
  /** It exists; `deleting` means that it waits for its dependents to be deleted first. */
  | 'present'
  | 'deleting'
  | 'absent'
  /** Its kind is not served, or it cannot be named from here: unknown. */
  | 'unknown';

export type CollectionAction =
  | { readonly kind: 'nothing' }
  /** Remove references to owners that are gone or being deleted; others keep the object. */
  | { readonly kind: 'release'; readonly uids: ReadonlySet<string> }
  | { readonly kind: 'delete'; readonly propagationPolicy: 'Foreground' | 'Background' | 'Orphan' };

const nothing: CollectionAction = { kind: 'nothing' };

/** What to do with an object that names owners; `hasBlockers` says whether its own dependents block its deletion. */
export const planCollection = (
  object: KubeObject,
  stateOf: (owner: OwnerReference) => OwnerState,
  hasBlockers: boolean,
): CollectionAction => {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || isDeleting(object)) return nothing;
  const states = owners.map(stateOf);
  const lost = owners.filter((_, index) => states[index] === 'absent' || states[index] === 'deleting');
  if (states.includes('present') && lost.length > 0) return { kind: 'release', uids: new Set(lost.map(({ uid }) => uid)) };
  if (states.includes('present') || states.includes('unknown')) return nothing;
  return { kind: 'delete', propagationPolicy: policyFor(object, states.includes('deleting') && hasBlockers) };
};

const policyFor = ({ metadata }: KubeObject, foreground: boolean) => {
  if (foreground) return 'Foreground';
  if (metadata.finalizers?.includes(orphanFinalizer)) return 'Orphan';
  return metadata.finalizers?.includes(foregroundFinalizer) ? 'Foreground' : 'Background';
};
