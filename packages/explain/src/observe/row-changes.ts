/** Which rows of a watch are news: of each object those that are new or different, and those that are gone. */
export interface RowNews<Row> {
  readonly changed: readonly Row[];
  /** As they were last. */
  readonly gone: readonly Row[];
}

export interface RowReading<Row> {
  /** What tells the rows of one object apart. */
  readonly identify: (row: Row) => string;
  /** What of a row is worth news. */
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

  /** @param key - of the object. @param rows - that it has now; none: it is gone. */
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
