/** Rows as columns for people. */
import type { Column } from '@vmdhcp/explain/observe';
import { printableLine } from './printable-line.js';
import type { Terminal } from './terminal.js';

export interface TableSettings {
  readonly isWide: boolean;
  readonly terminal: Terminal;
}

const GAP = 3;

/** The header and one line for each row; on a terminal, the last column is cut if there is no room. */
export function tableLines<Row>(columns: readonly Column<Row>[], rows: readonly Row[], settings: TableSettings): string[] {
  const shown = columns.filter(({ isWide }) => settings.isWide || isWide !== true);
  const cells = [shown.map(({ header }) => header), ...rows.map((row) => shown.map(({ value }) => printableLine(value(row))))];
  const widths = shown.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  return cells.map((line) => cut(toLine(line, widths), settings.terminal));
}

function toLine(line: readonly string[], widths: readonly number[]): string {
  return line
    .map((text, index) => (index === line.length - 1 ? text : text.padEnd((widths[index] ?? 0) + GAP)))
    .join('')
    .trimEnd();
}

function cut(line: string, { columns }: Terminal): string {
  return columns === undefined || line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}
