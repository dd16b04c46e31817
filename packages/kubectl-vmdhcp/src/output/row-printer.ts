/** Rows as they are printed one after the other. */

import type { ListedKind, RowPrinter } from '@vmdhcp/explain/observe';
import type { ListFormat } from './list-formats.js';
import { formatterOf } from './print-data.js';
import { printableLine } from './printable-line.js';
import { tableLines } from './table.js';
import type { Terminal } from './terminal.js';

interface PrinterSettings {
  readonly output: ListFormat;
  readonly terminal: Terminal;
}

export async function rowPrinter<Row extends object>(
  kind: ListedKind<Row>,
  { output, terminal }: PrinterSettings,
): Promise<RowPrinter<Row>> {
  switch (output) {
    case 'json':
    case 'yaml':
      return dataPrinter(await formatterOf(output, 'stream'));
    case 'name':
      return (rows, state) => rows.map((row) => `${printableLine(kind.nameOf(row))}${state === undefined ? '' : ` ${state}`}`);
    case 'table':
    case 'wide':
      return tablePrinter(kind, { isWide: output === 'wide', terminal });
  }
}

function dataPrinter<Row extends object>(format: (value: unknown) => string): RowPrinter<Row> {
  return (rows, state) => rows.map((row) => format(state === 'gone' ? { ...row, gone: true } : row).replace(/\n$/, ''));
}

/** The first rows set the widths. */
function tablePrinter<Row extends object>(
  { columns }: ListedKind<Row>,
  settings: { readonly isWide: boolean; readonly terminal: Terminal },
): RowPrinter<Row> {
  let first: readonly Row[] | undefined;
  return (rows, state) => {
    if (rows.length === 0 && first !== undefined) return [];
    const isFirst = first === undefined;
    first ??= rows;
    const lines = tableLines(columns, [...first, ...rows], settings);
    const printed = isFirst ? lines.slice(0, rows.length + 1) : lines.slice(first.length + 1);
    return state === 'gone' ? printed.map((line) => `${line}   gone`) : printed;
  };
}
