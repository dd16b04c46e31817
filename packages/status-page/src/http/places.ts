/** Limits the places of each user, so that a user cannot take those of others. */
export class Places<Of> {
  readonly #most: number;
  readonly #taken = new Map<string | null, Set<Of>>();

  constructor(most: number) {
    this.#most = most;
  }

  has(user: string | null, one: Of): boolean {
    return this.#taken.get(user)?.has(one) === true;
  }

  /** Takes a place. False if the user has used all. */
  take(user: string | null, one: Of): boolean {
    const taken = this.#taken.get(user) ?? new Set<Of>();
    if (taken.size >= this.#most) return false;
    this.#taken.set(user, taken.add(one));
    return true;
  }

  /** Frees its place, if it had one. */
  free(user: string | null, one: Of): void {
    const taken = this.#taken.get(user);
    taken?.delete(one);
    if (taken?.size === 0) this.#taken.delete(user);
  }
}
