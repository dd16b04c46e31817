import type { ClusterReader, ListedKind } from '@vmdhcp/explain/observe';
import { watchRows } from '@vmdhcp/explain/observe';
import { stopSignal } from '@vmdhcp/service-process';
import type { ListFormat } from '../output/list-formats.js';
import { rowPrinter } from '../output/row-printer.js';
import { terminalOf } from '../output/terminal.js';

/**
 * Prints the existing rows, then each row that changes or is removed, until the process is told to end. @throws the error of the
 * first list, and any refusal.
 */
export async function watchObjects<Row extends object>(
  reader: ClusterReader,
  kind: ListedKind<Row>,
  output: ListFormat,
): Promise<void> {
  const print = await rowPrinter(kind, { output, terminal: terminalOf(process.stdout, process.env) });
  await watchRows({ reader, kind, print, isWide: output !== 'table', stop: stopSignal() });
}
