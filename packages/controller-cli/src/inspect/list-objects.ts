/** Lists objects as a table or as data, once or as they change. */
import { type ApiResource, type KubernetesObject, keyOf, Reflector } from '@vmdhcp/kube-runtime';
import { ApiRequestError, systemClock } from '@vmdhcp/kube-runtime/node';
import { describeMissingRight } from '@vmdhcp/reconciler/chain';
import { CommandError, ExitCode, stopSignal } from '@vmdhcp/service-process';
import { ClusterReader, toCommandError } from './cluster-reader.js';
import type { ReaderOptions } from './inspect-options.js';
import type { ListedKind } from './listed-kind.js';
import { printData } from './print-data.js';
import { tableLines } from './table.js';
import { terminalOf } from './terminal.js';

export const LIST_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

export interface ListOptions extends ReaderOptions {
  readonly output: ListFormat;
  readonly allNamespaces?: boolean;
  readonly watch?: boolean;
}

/** @throws CommandError where the cluster does not answer, or does not let the reader list these objects. */
export async function listObjects<Row extends object>(
  options: ListOptions,
  kindFor: (reader: ClusterReader) => ListedKind<Row> | Promise<ListedKind<Row>>,
): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    const kind = await kindFor(reader);
    const resource = options.allNamespaces ? kind.resource : { ...kind.resource, namespace: reader.namespace };
    if (options.watch) await watchObjects(reader, { ...kind, resource }, options.output);
    else await printOnce(reader, { ...kind, resource }, options.output);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function printOnce<Row extends object>(reader: ClusterReader, kind: ListedKind<Row>, output: ListFormat): Promise<void> {
  const listed = await reader.list(kind.resource);
  if (listed.kind === 'refused')
    throw new CommandError(`${describeMissingRight(listed.right)}: ask for the verb list on it`, ExitCode.noPermission);
  await printRows(kind, rowsOf(kind, listed.objects, reader.nowMs), output);
}

function rowsOf<Row extends object>(kind: ListedKind<Row>, objects: readonly KubernetesObject[], nowMs: number): Row[] {
  const ordered = objects.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  const rows = ordered.flatMap((object) => kind.toRows(object, nowMs));
  const { sortBy } = kind;
  return sortBy === undefined ? rows : rows.toSorted((one, other) => (sortBy(one) < sortBy(other) ? -1 : 1));
}

async function printRows<Row extends object>(kind: ListedKind<Row>, rows: readonly Row[], output: ListFormat): Promise<void> {
  if (output === 'json' || output === 'yaml') return await printData(output, { items: rows });
  if (output === 'name') return writeLines([...new Set(rows.map(kind.nameOf))]);
  if (rows.length === 0) process.stderr.write('none found\n');
  else
    writeLines(tableLines(kind.columns, rows, { isWide: output === 'wide', terminal: terminalOf(process.stdout, process.env) }));
}

function writeLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

/** What is there, then each row that changes, until the process is asked to end. */
async function watchObjects<Row extends object>(reader: ClusterReader, kind: ListedKind<Row>, output: ListFormat): Promise<void> {
  const asked = stopSignal();
  const printed = new Map<string, string>();
  const print = rowPrinter(kind, output);
  const rowsAt = (object: KubernetesObject | undefined) => (object === undefined ? [] : kind.toRows(object, reader.nowMs));
  const reflector = await new Promise<Reflector<KubernetesObject>>((resolve, reject) => {
    const watching: Reflector<KubernetesObject> = new Reflector({
      port: reader.client(kind.resource),
      clock: systemClock,
      backOff: { firstMs: 500, mostMs: 15_000, random: Math.random },
      onChange: (key) => {
        const rows = rowsAt(watching.get(key));
        const text = describeRows(kind, rows);
        const isNews = watching.synced && printed.get(key) !== text;
        printed.set(key, text);
        if (isNews) print(rows);
      },
      onSynced: () => print(rowsOf(kind, [...watching.values()], reader.nowMs)),
      onError: (error) => {
        if (isForGood(error, watching.synced)) reject(refusal(error, kind.resource));
        else process.stderr.write(`${error instanceof Error ? error.message : String(error)}; trying again\n`);
      },
    });
    asked.addEventListener('abort', () => resolve(watching), { once: true });
    watching.start();
  });
  reflector.stop();
}

/** What a row shows; ages are in wide columns, and change all the time. */
function describeRows<Row extends object>({ columns }: ListedKind<Row>, rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => columns.filter(({ isWide }) => isWide !== true).map(({ value }) => value(row))));
}

/** A first list that fails ends the command; later the watch goes on. */
function isForGood(error: unknown, isSynced: boolean): boolean {
  const isRefused = error instanceof ApiRequestError && (error.status === 403 || error.status === 401);
  return isRefused || !isSynced;
}

function refusal(error: unknown, { group, plural, namespace = '' }: ApiResource): unknown {
  if (!(error instanceof ApiRequestError) || error.status !== 403) return error;
  const right = describeMissingRight({ verb: 'list', group, resource: plural, namespace });
  return new CommandError(`${right}: ask for the verbs list and watch on it`, ExitCode.noPermission);
}

/** Widths are those of the first rows. */
function rowPrinter<Row extends object>(kind: ListedKind<Row>, output: ListFormat): (rows: readonly Row[]) => void {
  const settings = { isWide: output === 'wide', terminal: terminalOf(process.stdout, process.env) };
  let first: readonly Row[] | undefined;
  return (rows) => {
    if (output === 'json' || output === 'yaml') return writeLines(rows.map((row) => JSON.stringify(row)));
    if (output === 'name') return writeLines(rows.map(kind.nameOf));
    if (rows.length === 0 && first !== undefined) return;
    const isFirst = first === undefined;
    first ??= rows;
    const lines = tableLines(kind.columns, [...first, ...rows], settings);
    writeLines(isFirst ? lines.slice(0, rows.length + 1) : lines.slice(first.length + 1));
  };
}
