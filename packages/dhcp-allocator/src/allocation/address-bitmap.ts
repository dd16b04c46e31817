/**
 * A set of the integers 0 to size-1 that finds its lowest absent member in constant time.
 *
 * One bit a member; over every 32 words lies a word whose bits mark those that are full, and so on up to a single
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
      bits = Math.max(1, Math.ceil(bits / 32));
      levels.push(new Uint32Array(bits));
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

  /**
   * Adds the members from `first` to `last`, both included; some may be present. Costs one step for every 32 members.
   *
   * @param first - 0 to `last`. @param last - less than `size`.
   */
  addRange(first: number, last: number): void {
    let [from, to] = [first, last];
    for (const [level, words] of this.#levels.entries()) {
      const added = setBits(words, from, to);
      if (level === 0) this.#count += added;
      // A level up, one bit stands for each word that is full: all of them, but perhaps not the first and the last.
      const [firstWord, lastWord] = [from >>> 5, to >>> 5];
      from = words[firstWord] === 0xffffffff ? firstWord : firstWord + 1;
      to = words[lastWord] === 0xffffffff ? lastWord : lastWord - 1;
      if (from > to) break;
    }
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

  /** The lowest member that is absent, or undefined when all are present: bits past the end lie behind all others, so no search ends there. */
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

/** Sets the bits from `first` to `last`; returns how many of them were not set. */
function setBits(words: Uint32Array, first: number, last: number): number {
  let added = 0;
  for (let word = first >>> 5; word <= last >>> 5; word++) {
    const before = words[word] as number;
    const from = Math.max(first - word * 32, 0);
    const to = Math.min(last - word * 32, 31);
    const after = (before | ((0xffffffff << from) & (0xffffffff >>> (31 - to)))) >>> 0;
    added += countBits(after ^ before);
    words[word] = after;
  }
  return added;
}

/** How many of the 32 bits are set. Source: Hacker's Delight (2nd edition), §5-1. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
