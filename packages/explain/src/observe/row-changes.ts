/** Finds the rows of a watch to report: new or changed rows of each object, and removed ones. */
export interface RowNews<Row> {
  readonly changed: readonly Row[];
  /** The last version of each row. */
  readonly gone: readonly Row[];
}

export interface RowReading<Row> {
  /** What distinguishes the rows of one object. */
  readonly identify: (row: Row) => string;
  /** The part of a row whose changes are reported. */
  readonly describe: (row: Row) => string;
}

interface SeenRow<Row> {
  readonly row: Row;
  readonly text: string;
}

export class RowChanges<Row extends object> {
  readonly #reading: RowReading<Row>;
  readonly #seen = new Map<string, ReadonlyMap<string, SeenRow<Row>>>();

  constructor(reading: RowReading<Row>) {
    this.#reading = reading;
  }

  /** @param key - the key of the object. @param rows - its current rows; none if it is gone. */
  take(key: string, rows: readonly Row[]): RowNews<Row> {
    const { identify, describe } = this.#reading;
    const before = this.#seen.get(key) ?? new Map<string, SeenRow<Row>>();
    const now = new Map(rows.map((row) => [identify(row), { row, text: describe(row) }]));
    if (now.size === 0) this.#seen.delete(key);
    else this.#seen.set(key, now);
    return {
      changed: [...now].flatMap(([id, { row, text }]) => (before.get(id)?.text === text ? [] : [row])),
      gone: [...before].flatMap(([id, { row }]) => (now.has(id) ? [] : [row])),
    };
  }
}
