import type { ListedKind } from '@vmdhcp/explain/observe';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { ListFormat } from './list-formats.js';
import { rowPrinter } from './row-printer.js';
import { NO_TERMINAL } from './terminal.js';

interface Row {
  readonly name: string;
  readonly used: number;
}

const KIND: ListedKind<Row> = {
  resource: { group: 'example.com', version: 'v1', plural: 'things', namespaced: true },
  toRows: () => [],
  nameOf: ({ name }) => `thing.example.com/${name}`,
  columns: [
    { header: 'NAME', value: ({ name }) => name },
    { header: 'USED', value: ({ used }) => String(used) },
  ],
};

async function printed(output: ListFormat): Promise<readonly string[]> {
  const print = await rowPrinter(KIND, { output, terminal: NO_TERMINAL });
  return [
    ...print([
      { name: 'one', used: 1 },
      { name: 'two', used: 1 },
    ]),
    ...print([{ name: 'two', used: 2 }]),
    ...print([{ name: 'one', used: 1 }], 'gone'),
  ];
}

describe('watched rows', () => {
  it('for people: each change is below the first rows, and removed rows are marked', async () => {
    expect(await printed('table')).toEqual(['NAME   USED', 'one    1', 'two    1', 'two    2', 'one    1   gone']);
  });

  it('as JSON: a line for each', async () => {
    expect((await printed('json')).map((line): unknown => JSON.parse(line))).toEqual([
      { name: 'one', used: 1 },
      { name: 'two', used: 1 },
      { name: 'two', used: 2 },
      { name: 'one', used: 1, gone: true },
    ]);
  });

  it('as YAML: a document for each', async () => {
    const documents = parseAllDocuments((await printed('yaml')).join('\n'));
    expect(documents).toHaveLength(4);
    expect([...documents].map((one): unknown => one.toJS())).toEqual([
      { name: 'one', used: 1 },
      { name: 'two', used: 1 },
      { name: 'two', used: 2 },
      { name: 'one', used: 1, gone: true },
    ]);
  });

  it('as YAML: a text keeps the line ends at its end', async () => {
    const print = await rowPrinter(KIND, { output: 'yaml', terminal: NO_TERMINAL });
    const row = { used: 1, name: 'one\n\n' };
    const [first, second] = parseAllDocuments(`${print([row, row]).join('\n')}\n`);
    expect([first?.toJS(), second?.toJS()]).toEqual([row, row]);
  });

  it('as names', async () => {
    expect((await printed('name')).at(-1)).toBe('thing.example.com/one gone');
  });
});
