import { isDeleting, type KubeObject, type OwnerReference } from './workload-kinds.js';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** What is known of an owner that an object names. */
export type OwnerState =
  /** It is there; `deleting`: it waits for its dependents to go first. */
  | 'present'
  | 'deleting'
  | 'absent'
  /** Its kind is not served, or it cannot be named from here: unknown. */
  | 'unknown';

export type CollectionAction =
  | { readonly kind: 'nothing' }
  /** References to owners that are gone, or going, are taken out; others hold the object. */
  | { readonly kind: 'release'; readonly uids: ReadonlySet<string> }
  | { readonly kind: 'delete'; readonly propagationPolicy: 'Foreground' | 'Background' | 'Orphan' };

const nothing: CollectionAction = { kind: 'nothing' };

/** What is to become of an object that names owners; `hasBlockers` tells whether dependents of its own hold it. */
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
