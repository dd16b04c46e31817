import type { ClusterReader, ListedKind } from '@vmdhcp/explain/observe';
import { watchRows } from '@vmdhcp/explain/observe';
import { stopSignal } from '@vmdhcp/service-process';
import type { ListFormat } from '../output/list-formats.js';
import { rowPrinter } from '../output/row-printer.js';
import { terminalOf } from '../output/terminal.js';

/** Prints what is there, then each row that changes or is gone, until the process is asked to end. @throws what the first list failed with, and any refusal. */
export async function watchList<Row extends object>(
  reader: ClusterReader,
  kind: ListedKind<Row>,
  output: ListFormat,
): Promise<void> {
  const print = await rowPrinter(kind, { output, terminal: terminalOf(process.stdout, process.env) });
  await watchRows({ reader, kind, print, isWide: output !== 'table', stop: stopSignal() });
}
