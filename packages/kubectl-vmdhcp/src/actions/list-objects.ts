/** Lists objects as a table or as data, once or as they change. */

import { describeMissingRight } from '@vmdhcp/explain';
import type { ListedBeside, ListedKind, ReaderOptions } from '@vmdhcp/explain/observe';
import { ClusterReader, type ListResult, rowsOf, sortRows, toCommandError } from '@vmdhcp/explain/observe';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { ListFormat } from '../output/list-formats.js';
import { printData } from '../output/print-data.js';
import { printableLine } from '../output/printable-line.js';
import { tableLines } from '../output/table.js';
import { terminalOf } from '../output/terminal.js';
import { watchList } from './watch-list.js';

export interface ListOptions extends ReaderOptions {
  readonly output: ListFormat;
  readonly allNamespaces?: boolean;
  readonly watch?: boolean;
}

/** @throws CommandError if the cluster does not answer, or the user may not list these objects. */
export async function listObjects<Row extends object>(
  options: ListOptions,
  kindFor: (reader: ClusterReader) => ListedKind<Row> | Promise<ListedKind<Row>>,
): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    const kind = await kindFor(reader);
    const resource = options.allNamespaces ? kind.resource : { ...kind.resource, namespace: reader.namespace };
    if (options.watch) await watchList(reader, { ...kind, resource }, options.output);
    else await printOnce(reader, { ...kind, resource }, options.output);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function printOnce<Row extends object>(reader: ClusterReader, kind: ListedKind<Row>, output: ListFormat): Promise<void> {
  const { beside } = kind;
  if (beside !== undefined) takeBeside(beside, await reader.list(beside.resource));
  const listed = await reader.list(kind.resource);
  if (listed.kind === 'refused')
    throw new CommandError(`${describeMissingRight(listed.right)}: ask for the verb list on it`, ExitCode.noPermission);
  const further = await furtherRows(reader, kind, listed.objects);
  await printRows(kind, sortRows(kind, [...rowsOf(kind, listed.objects, reader.nowMs), ...further]), output);
  const leftOut = beside?.describeLeftOut(listed.objects);
  if (leftOut !== undefined) process.stderr.write(`${leftOut}\n`);
}

async function furtherRows<Row extends object>(
  reader: ClusterReader,
  { further, resource: { namespace } }: ListedKind<Row>,
  objects: readonly KubernetesObject[],
): Promise<readonly Row[]> {
  if (further === undefined) return [];
  const listed = await reader.list(namespace === undefined ? further.resource : { ...further.resource, namespace });
  if (listed.kind === 'found') return further.toRows(listed.objects, objects);
  process.stderr.write(`left out: ${further.what}; ${describeMissingRight(listed.right)}: ask for the verb list on it\n`);
  return [];
}

function takeBeside({ take, isOptional, otherWay }: ListedBeside, listed: ListResult): void {
  if (listed.kind === 'found') take(listed.objects);
  else if (isOptional) take('refused');
  else
    throw new CommandError(
      `${describeMissingRight(listed.right)}: ask for the verb list on it${otherWay}`,
      ExitCode.noPermission,
    );
}

async function printRows<Row extends object>(kind: ListedKind<Row>, rows: readonly Row[], output: ListFormat): Promise<void> {
  if (output === 'json' || output === 'yaml') return await printData(output, { items: rows });
  if (output === 'name') return writeLines([...new Set(rows.map((row) => printableLine(kind.nameOf(row))))]);
  if (rows.length === 0) process.stderr.write('none found\n');
  else
    writeLines(tableLines(kind.columns, rows, { isWide: output === 'wide', terminal: terminalOf(process.stdout, process.env) }));
}

function writeLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}
