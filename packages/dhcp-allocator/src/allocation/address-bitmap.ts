/**
 * A set of the integers 0 to size-1 that finds its lowest absent member in constant time.
 *
 * One bit a member; over every 32 words lies a word whose bits say which of them are full, and so on up to a single
 * word. Finding the lowest gap is one count-trailing-zeros a level: five levels for the 2^24 addresses of a /8, which
 * cost 2.2 MB.
 */
export class AddressBitmap {
  readonly size: number;
  readonly #levels: readonly Uint32Array[];
  #count = 0;

  /** An empty set. @param size - 0 to 2^24 members. */
  constructor(size: number) {
    this.size = size;
    const levels: Uint32Array[] = [];
    let bits = size;
    do {
      const words = new Uint32Array(Math.max(1, Math.ceil(bits / 32)));
      fillPastTheEnd(words, bits);
      levels.push(words);
      bits = words.length;
    } while (bits > 1);
    this.#levels = levels;
  }

  /** How many members are present. */
  get count(): number {
    return this.#count;
  }

  has(member: number): boolean {
    return (((this.#levels[0] as Uint32Array)[member >>> 5] as number) & (1 << (member & 31))) !== 0;
  }

  /** Adds a member; false if it was present. */
  add(member: number): boolean {
    if (this.has(member)) return false;
    this.#count++;
    let bit = member;
    for (const words of this.#levels) {
      const word = bit >>> 5;
      words[word] = (words[word] as number) | (1 << (bit & 31));
      if (words[word] !== 0xffffffff) break;
      bit = word;
    }
    return true;
  }

  /** Removes a member; false if it was absent. */
  delete(member: number): boolean {
    if (!this.has(member)) return false;
    this.#count--;
    let bit = member;
    for (const words of this.#levels) {
      const word = bit >>> 5;
      const wasFull = words[word] === 0xffffffff;
      words[word] = (words[word] as number) & ~(1 << (bit & 31));
      if (!wasFull) break;
      bit = word;
    }
    return true;
  }

  /** The lowest member that is absent, or undefined when all are present. */
  lowestAbsent(): number | undefined {
    if (this.#count === this.size) return undefined;
    let word = 0;
    for (let level = this.#levels.length - 1; level >= 0; level--) {
      const gaps = ~((this.#levels[level] as Uint32Array)[word] as number);
      word = word * 32 + (31 - Math.clz32(gaps & -gaps));
    }
    return word;
  }
}

/** Bits that stand for nothing are set, so that no search ends on them. */
function fillPastTheEnd(words: Uint32Array, bits: number): void {
  for (let bit = bits; bit < words.length * 32; bit++) {
    words[bit >>> 5] = (words[bit >>> 5] as number) | (1 << (bit & 31));
  }
}
