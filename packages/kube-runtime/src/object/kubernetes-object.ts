import type { ApiObjectLike } from './api-object.js';

/**
 * An object of any kind. `spec` and `status` are unknown: a CRD of another version may have accepted anything, and one invalid object must not stop
 * the others.
 */
export interface KubernetesObject extends ApiObjectLike {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ApiObjectLike['metadata'] & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly generation?: number;
    /** RFC 3339. */
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The object that another one belongs to, with which it is deleted. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** True as soon as its deletion was requested. */
export function isBeingDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionTimestamp !== null;
}

/** Orders objects by age, then by name: the oldest first, whatever order they are read in. */
export function compareByAge(one: KubernetesObject, other: KubernetesObject): number {
  return (
    compareText(one.metadata.creationTimestamp ?? '', other.metadata.creationTimestamp ?? '') ||
    compareText(one.metadata.namespace ?? '', other.metadata.namespace ?? '') ||
    compareText(one.metadata.name, other.metadata.name)
  );
}

/** Orders texts by their code units, the same on every machine; for `sort`. */
export function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
