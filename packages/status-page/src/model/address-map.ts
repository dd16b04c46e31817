/** Run-length lists of the states of addresses. The server makes them, and the page draws and changes them. */

/** Builds runs from pieces with a state: empty pieces are dropped, and neighbours with the same state become one run. */
export class RunBuilder {
  readonly #runs: number[] = [];

  /** @param count - the number of addresses; 0 or less adds nothing. */
  add(state: number, count: number): void {
    if (count <= 0) return;
    const runs = this.#runs;
    const last = runs.length - 2;
    if (last >= 0 && runs[last] === state) runs[last + 1] = (runs[last + 1] ?? 0) + count;
    else runs.push(state, count);
  }

  /** `[state, count, …]`. */
  get runs(): readonly number[] {
    return this.#runs;
  }
}

/**
 * The runs after changes: those of `PoolChange.map`.
 * @param changes - `[offset, state, count, …]` in order and without overlaps; what lies beyond the runs is left out.
 */
export function applyMapChanges(runs: readonly number[], changes: readonly number[]): readonly number[] {
  const built = new RunBuilder();
  const cursor = new RunCursor(runs);
  for (let index = 0; index + 2 < changes.length; index += 3) {
    cursor.copyUntil(changes[index] ?? 0, built);
    built.add(changes[index + 1] ?? 0, cursor.skip(changes[index + 2] ?? 0));
  }
  cursor.copyUntil(Number.POSITIVE_INFINITY, built);
  return built.runs;
}

/** `[offset, state, count, …]`: the changes that turn `before` into `after`. Both cover the same number of addresses. */
export function diffRuns(before: readonly number[], after: readonly number[]): readonly number[] {
  const changes: number[] = [];
  const [one, other] = [new RunCursor(before), new RunCursor(after)];
  while (one.left > 0 && other.left > 0) {
    const count = Math.min(one.left, other.left);
    if (one.state !== other.state) addChange(changes, [other.offset, other.state, count]);
    one.skip(count);
    other.skip(count);
  }
  return changes;
}

function addChange(changes: number[], [offset, state, count]: readonly [number, number, number]): void {
  const last = changes.length - 3;
  const isNext = last >= 0 && (changes[last] ?? 0) + (changes[last + 2] ?? 0) === offset && changes[last + 1] === state;
  if (isNext) changes[last + 2] = (changes[last + 2] ?? 0) + count;
  else changes.push(offset, state, count);
}

/** Reads runs from the first address on. */
class RunCursor {
  readonly #runs: readonly number[];
  #index = 0;
  #left: number;
  #offset = 0;

  constructor(runs: readonly number[]) {
    this.#runs = runs;
    this.#left = runs[1] ?? 0;
  }

  /** The number of addresses read. */
  get offset(): number {
    return this.#offset;
  }

  /** The state of the next address. */
  get state(): number {
    return this.#runs[this.#index] ?? 0;
  }

  /** How many consecutive addresses have the state of the next one; 0 at the end. */
  get left(): number {
    return this.#left;
  }

  /** Copies the addresses before `offset`. */
  copyUntil(offset: number, built: RunBuilder): void {
    this.#advance(offset - this.#offset, (state, count) => built.add(state, count));
  }

  /** Skips `count` addresses; returns how many there were. */
  skip(count: number): number {
    const before = this.#offset;
    this.#advance(count, () => undefined);
    return this.#offset - before;
  }

  #advance(count: number, take: (state: number, count: number) => void): void {
    let wanted = count;
    while (wanted > 0 && this.#index < this.#runs.length) {
      const taken = Math.min(wanted, this.#left);
      take(this.state, taken);
      wanted -= taken;
      this.#offset += taken;
      this.#left -= taken;
      if (this.#left > 0) return;
      this.#index += 2;
      this.#left = this.#runs[this.#index + 1] ?? 0;
    }
  }
}
