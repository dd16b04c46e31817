import type { OwnerReference } from './workload-kinds.js';

/** Where an object is, as one string. */
export type Location = string;

/**
 * Who depends on whom. Finding the dependents of an object costs what they are, not what is stored; nothing but names is kept.
 */
export class OwnerIndex {
  readonly #locations = new Map<string, Location>();
  readonly #owners = new Map<string, readonly OwnerReference[]>();
  readonly #dependents = new Map<string, Set<string>>();

  /** The object with this uid is there and names these owners. */
  put(uid: string, location: Location, owners: readonly OwnerReference[]): void {
    this.#locations.set(uid, location);
    this.#unlink(uid);
    if (owners.length === 0) return;
    this.#owners.set(uid, owners);
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner.uid);
      if (dependents === undefined) this.#dependents.set(owner.uid, new Set([uid]));
      else dependents.add(uid);
    }
  }

  /** The object is gone; its dependents are still known. */
  remove(uid: string): void {
    this.#locations.delete(uid);
    this.#unlink(uid);
  }

  /** Where the object with this uid is; undefined: nowhere. */
  locate(uid: string): Location | undefined {
    return this.#locations.get(uid);
  }

  /** Where the objects are that name this uid as an owner. */
  dependentsOf(uid: string): readonly Location[] {
    return [...(this.#dependents.get(uid) ?? [])].map((dependent) => this.#locations.get(dependent) ?? '');
  }

  /** Where those of its dependents are that must be gone before it may go. */
  blockersOf(uid: string): readonly Location[] {
    const blocking = (dependent: string) =>
      this.#owners.get(dependent)?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
    return [...(this.#dependents.get(uid) ?? [])].filter(blocking).map((dependent) => this.#locations.get(dependent) ?? '');
  }

  #unlink(uid: string): void {
    for (const owner of this.#owners.get(uid) ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    this.#owners.delete(uid);
  }
}
