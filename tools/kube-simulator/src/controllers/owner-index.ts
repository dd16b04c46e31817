import type { OwnerReference } from './workload-kinds.js';

/** Where an object is, as one string. */
export type Location = string;

/**
 * Who depends on whom. Finding the dependents of an object takes time in proportion to their number, not to the number of stored objects. Only names
 * are kept.
 */
export class OwnerIndex {
  readonly #locations = new Map<string, Location>();
  readonly #owners = new Map<string, readonly OwnerReference[]>();
  readonly #dependents = new Map<string, Set<string>>();

  /** Records that the object with this uid exists and names these owners. */
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

  /** Records that the object is gone; its dependents are still known. */
  remove(uid: string): void {
    this.#locations.delete(uid);
    this.#unlink(uid);
  }

  /** The location of the object with this uid; undefined if it does not exist. */
  locate(uid: string): Location | undefined {
    return this.#locations.get(uid);
  }

  /** The locations of the objects that name this uid as an owner. */
  dependentsOf(uid: string): readonly Location[] {
    return [...(this.#dependents.get(uid) ?? [])].map((dependent) => this.#locations.get(dependent) ?? '');
  }

  /** The locations of the dependents that block its deletion. */
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
