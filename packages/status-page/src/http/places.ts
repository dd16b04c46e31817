/** So many places for each user: one who asks for more takes none from others. */
export class Places<Of> {
  readonly #most: number;
  readonly #taken = new Map<string | null, Set<Of>>();

  constructor(most: number) {
    this.#most = most;
  }

  has(user: string | null, one: Of): boolean {
    return this.#taken.get(user)?.has(one) === true;
  }

  /** False if the user has as many as there are. */
  take(user: string | null, one: Of): boolean {
    const taken = this.#taken.get(user) ?? new Set<Of>();
    if (taken.size >= this.#most) return false;
    this.#taken.set(user, taken.add(one));
    return true;
  }

  /** Its place is free again, if it had one. */
  free(user: string | null, one: Of): void {
    const taken = this.#taken.get(user);
    taken?.delete(one);
    if (taken?.size === 0) this.#taken.delete(user);
  }
}
