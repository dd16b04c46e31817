import type { ApiClient } from '../api/api-client.js';
import { type LabelSelector, selectorMatches } from '../label-selector.js';
import { updateObject } from './update-object.js';
import { controlledBy, controllerOf, isDeleting, type KubeObject } from './workload-kinds.js';

/** An object that takes others under its control by their labels. */
export interface Claimant {
  readonly owner: KubeObject;
  readonly selector: LabelSelector;
  /** The kind of the objects: `{ resource: 'pods' }`. */
  readonly kind: { readonly group?: string; readonly resource: string };
}

/**
 * The objects that the owner controls. An object without a controller is adopted if its labels match; an object whose labels do not match any more is
 * released.
 */
export const claim = async <T extends KubeObject>(api: ApiClient, claimant: Claimant): Promise<readonly T[]> => {
  const { owner, kind } = claimant;
  const namespace = owner.metadata.namespace ?? '';
  const claimed: T[] = [];
  for (const candidate of api.list({ ...kind, namespace }) as readonly T[]) {
    const path = { ...kind, namespace, name: candidate.metadata.name ?? '' };
    switch (relationOf(candidate, claimant)) {
      case 'controlled':
        claimed.push(candidate);
        break;
      case 'lost':
        await updateObject<T>(api, path, (live) => withoutOwner(live, owner));
        break;
      case 'found':
        await updateObject<T>(api, path, (live) => withOwner(live, owner));
        claimed.push(...([api.get(path) as T | undefined].filter((adopted) => adopted !== undefined) as T[]));
        break;
      case 'foreign':
    }
  }
  return claimed;
};

const relationOf = (candidate: KubeObject, { owner, selector }: Claimant): 'controlled' | 'lost' | 'found' | 'foreign' => {
  const fits = selectorMatches(selector, candidate.metadata.labels ?? {});
  const controller = controllerOf(candidate);
  const isSettled = isDeleting(candidate) || isDeleting(owner);
  if (controller?.uid === owner.metadata.uid) return fits || isSettled ? 'controlled' : 'lost';
  return controller === undefined && fits && !isSettled ? 'found' : 'foreign';
};

const withOwner = <T extends KubeObject>(object: T, owner: KubeObject): T => {
  if (controllerOf(object) !== undefined) return object;
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), controlledBy(owner)];
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
};

const withoutOwner = <T extends KubeObject>(object: T, owner: KubeObject): T => {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
};
