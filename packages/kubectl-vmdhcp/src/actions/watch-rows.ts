/** Prints what is there, then each row that changes or is gone, until the process is asked to end. */

import { describeMissingRight } from '@vmdhcp/explain';
import type { ClusterReader } from '@vmdhcp/explain/observe';
import { type ApiResource, type KubernetesObject, keyOf, Reflector } from '@vmdhcp/kube-runtime';
import { ApiRequestError, systemClock } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode, stopSignal } from '@vmdhcp/service-process';
import type { ListFormat } from '../output/list-formats.js';
import type { ListedBeside, ListedKind } from '../output/listed-kind.js';
import { rowsOf } from '../output/listed-rows.js';
import { RowChanges } from '../output/row-changes.js';
import { type RowPrinter, rowPrinter } from '../output/row-printer.js';
import { terminalOf } from '../output/terminal.js';

/** How often rows that change with time are looked at. */
const TIMED_EACH_MS = 1_000;

/** @throws what the first list failed with, and any refusal. */
export async function watchRows<Row extends object>(
  reader: ClusterReader,
  kind: ListedKind<Row>,
  output: ListFormat,
): Promise<void> {
  const print = await rowPrinter(kind, { output, terminal: terminalOf(process.stdout, process.env) });
  const watch = new ListWatch({ reader, kind, print, isWide: output !== 'table' });
  stopSignal().addEventListener('abort', () => watch.stop(), { once: true });
  await watch.run();
}

interface WatchSettings<Row extends object> {
  readonly reader: ClusterReader;
  readonly kind: ListedKind<Row>;
  readonly print: RowPrinter<Row>;
  /** True: news of wide columns are news. */
  readonly isWide: boolean;
}

class ListWatch<Row extends object> {
  readonly #settings: WatchSettings<Row>;
  readonly #rows: RowChanges<Row>;
  readonly #objects: Reflector<KubernetesObject>;
  readonly #beside: Reflector<KubernetesObject> | undefined;
  readonly #ended = Promise.withResolvers<void>();
  #isBesideNews = false;
  #isRefusalPrinted = false;
  #callOffTimer: () => void = () => undefined;

  constructor(settings: WatchSettings<Row>) {
    const { kind, isWide } = settings;
    const shown = kind.columns.filter((column) => column.isAge !== true && (isWide || column.isWide !== true));
    this.#settings = settings;
    this.#rows = new RowChanges({
      identify: kind.identify ?? (() => ''),
      describe: (row) => JSON.stringify(shown.map(({ value }) => value(row))),
    });
    this.#objects = this.#reflect(kind.resource, {
      onChange: (key) => this.#look(key),
      onSynced: () => this.#begin(),
      onRefused: (error) => this.#ended.reject(error),
    });
    this.#beside = kind.beside && this.#reflectBeside(kind.beside);
  }

  async run(): Promise<void> {
    (this.#beside ?? this.#objects).start();
    await this.#ended.promise.finally(() => this.#close());
  }

  stop(): void {
    this.#ended.resolve();
  }

  #close(): void {
    this.#callOffTimer();
    this.#objects.stop();
    this.#beside?.stop();
  }

  #reflectBeside({ resource, isOptional, otherWay }: ListedBeside): Reflector<KubernetesObject> {
    return this.#reflect(resource, {
      onChange: () => {
        this.#isBesideNews = true;
      },
      onSynced: () => {
        this.#isBesideNews = true;
        this.#objects.start();
      },
      onRefused: (error) => {
        if (!isOptional) this.#ended.reject(withOtherWay(error, otherWay));
        else if (this.#beside?.synced === true) this.#printRefusal(error);
        else {
          this.#beside?.stop();
          this.#settings.kind.beside?.take('refused');
          this.#objects.start();
        }
      },
    });
  }

  /** The right was taken away: it is tried again, and what was read before counts. */
  #printRefusal(error: unknown): void {
    if (this.#isRefusalPrinted) return;
    this.#isRefusalPrinted = true;
    process.stderr.write(`${messageOf(error)}; until then, what was read before is used\n`);
  }

  /** Everything is there: it is printed at once, in its order. */
  #begin(): void {
    const { kind, reader, print } = this.#settings;
    this.#takeBeside();
    const objects = [...this.#objects.values()];
    for (const object of objects) this.#rows.take(keyOf(object), kind.toRows(object, reader.nowMs));
    writeLines(print(rowsOf(kind, objects, reader.nowMs)));
    if (kind.isTimed) this.#lookLater();
  }

  #lookLater(): void {
    this.#callOffTimer = systemClock.after(TIMED_EACH_MS, () => {
      this.#takeBeside();
      for (const key of this.#objects.keys()) this.#look(key);
      this.#lookLater();
    });
  }

  #takeBeside(): void {
    if (!this.#isBesideNews) return;
    this.#isBesideNews = false;
    this.#settings.kind.beside?.take([...(this.#beside?.values() ?? [])]);
  }

  #look(key: string): void {
    if (!this.#objects.synced) return;
    const { kind, reader, print } = this.#settings;
    const object = this.#objects.get(key);
    const { changed, gone } = this.#rows.take(key, object === undefined ? [] : kind.toRows(object, reader.nowMs));
    const isNews = object !== undefined || kind.isShortLived !== true;
    if (gone.length > 0 && isNews) writeLines(print(gone, 'gone'));
    if (changed.length > 0) writeLines(print(changed));
  }

  /** A first list that fails ends the command; later the watch goes on. */
  #reflect(resource: ApiResource, { onChange, onSynced, onRefused }: ReflectorEvents): Reflector<KubernetesObject> {
    const reflector: Reflector<KubernetesObject> = new Reflector({
      port: this.#settings.reader.client(resource),
      clock: systemClock,
      backOff: { firstMs: 500, mostMs: 15_000, random: Math.random },
      onChange,
      onSynced,
      onError: (error) => {
        if (isRefusal(error)) onRefused(refusal(error, resource));
        else if (!reflector.synced) this.#ended.reject(error);
        else process.stderr.write(`${messageOf(error)}; trying again\n`);
      },
    });
    return reflector;
  }
}

interface ReflectorEvents {
  readonly onChange: (key: string) => void;
  readonly onSynced: () => void;
  readonly onRefused: (error: unknown) => void;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiRequestError && (error.status === 403 || error.status === 401);
}

function refusal(error: unknown, { group, plural, namespace = '' }: ApiResource): unknown {
  if (!(error instanceof ApiRequestError) || error.status !== 403) return error;
  const right = describeMissingRight({ verb: 'list', group, resource: plural, namespace });
  return new CommandError(`${right}: ask for the verbs list and watch on it`, ExitCode.noPermission);
}

function withOtherWay(error: unknown, otherWay: string): unknown {
  return error instanceof CommandError ? new CommandError(`${error.message}${otherWay}`, error.exitCode) : error;
}

function writeLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}
