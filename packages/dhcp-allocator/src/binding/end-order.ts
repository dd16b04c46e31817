const NONE = -1;

/**
 * Addresses, the one that ends first at the front. A binary heap that knows where each address stands, so that a change costs the logarithm of
 * how many there are.
 */
export class EndOrder {
  readonly #addresses: number[] = [];
  readonly #endsAtMs: number[] = [];
  /** By address as a signed number, which takes less memory than one above 2^31. */
  readonly #positions = new Map<number, number>();

  get size(): number {
    return this.#addresses.length;
  }

  /** The address that ends first; undefined if there is none. */
  get first(): number | undefined {
    const address = this.#addresses[0];
    return address === undefined ? undefined : address >>> 0;
  }

  get firstEndsAtMs(): number {
    return this.#endsAtMs[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Adds the address, or moves it to the place of its new end. */
  set(address: number, endsAtMs: number): void {
    const key = address | 0;
    const position = this.#positions.get(key) ?? NONE;
    if (position !== NONE && this.#endsAtMs[position] === endsAtMs) return;
    if (position === NONE) {
      this.#place(this.#addresses.length, key, endsAtMs);
      this.#rise(this.#addresses.length - 1);
      return;
    }
    this.#endsAtMs[position] = endsAtMs;
    this.#rise(position);
    this.#sink(this.#positions.get(key) as number);
  }

  /** Removes the address, if it is there. */
  delete(address: number): void {
    const position = this.#positions.get(address | 0);
    if (position === undefined) return;
    this.#positions.delete(address | 0);
    const lastAddress = this.#addresses.pop() as number;
    const lastEndsAtMs = this.#endsAtMs.pop() as number;
    if (position === this.#addresses.length) return;
    this.#place(position, lastAddress, lastEndsAtMs);
    this.#rise(position);
    this.#sink(this.#positions.get(lastAddress) as number);
  }

  #place(position: number, key: number, endsAtMs: number): void {
    this.#addresses[position] = key;
    this.#endsAtMs[position] = endsAtMs;
    this.#positions.set(key, position);
  }

  #rise(from: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >>> 1;
      if (!this.#isBefore(position, parent)) return;
      this.#swap(position, parent);
      position = parent;
    }
  }

  #sink(from: number): void {
    let position = from;
    for (;;) {
      let least = position;
      for (const child of [2 * position + 1, 2 * position + 2]) {
        if (child < this.#addresses.length && this.#isBefore(child, least)) least = child;
      }
      if (least === position) return;
      this.#swap(position, least);
      position = least;
    }
  }

  /** True if `a` comes before `b`. If both end together the lower address comes first, so the order depends on nothing else. */
  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#endsAtMs[one] as number, this.#endsAtMs[other] as number];
    return a === b ? (this.#addresses[one] as number) >>> 0 < (this.#addresses[other] as number) >>> 0 : a < b;
  }

  #swap(one: number, other: number): void {
    const [address, endsAtMs] = [this.#addresses[one] as number, this.#endsAtMs[one] as number];
    this.#place(one, this.#addresses[other] as number, this.#endsAtMs[other] as number);
    this.#place(other, address, endsAtMs);
  }
}
