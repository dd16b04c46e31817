import { describe, expect, it } from 'vitest';
import { RowChanges } from './row-changes.js';

interface Row {
  readonly name: string;
  readonly used: number;
  readonly age: number;
}

const row = (name: string, used = 1, age = 0): Row => ({ name, used, age });
const NOTHING = { changed: [], gone: [] };

function watching(): RowChanges<Row> {
  return new RowChanges<Row>({ identify: ({ name }) => name, describe: ({ used }) => String(used) });
}

describe('rows of an object that is watched', () => {
  it('is reported once if new or different; a changed age is ignored', () => {
    const rows = watching();
    expect(rows.take('a', [row('one'), row('two')])).toEqual({ changed: [row('one'), row('two')], gone: [] });
    expect(rows.take('a', [row('one', 1, 60), row('two', 2)])).toEqual({ changed: [row('two', 2)], gone: [] });
    expect(rows.take('a', [row('one'), row('two', 2)])).toEqual(NOTHING);
  });

  it('is reported once when it is gone, in its last version', () => {
    const rows = watching();
    rows.take('a', [row('one'), row('two')]);
    rows.take('b', [row('one')]);
    expect(rows.take('a', [row('two')])).toEqual({ changed: [], gone: [row('one')] });
    expect(rows.take('a', [])).toEqual({ changed: [], gone: [row('two')] });
    expect(rows.take('a', [])).toEqual(NOTHING);
  });

  it('an object that reappears is reported', () => {
    const rows = watching();
    rows.take('a', [row('one')]);
    rows.take('a', []);
    expect(rows.take('a', [row('one')])).toEqual({ changed: [row('one')], gone: [] });
  });
});
