/** Prints the existing rows, then each row that changes or is removed, until the process is told to end. */

import { type ApiResource, type KubernetesObject, keyOf, Reflector } from '@vmdhcp/kube-runtime';
import { ApiRequestError, systemClock } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { describeMissingRight } from '../chain/chain-observation.js';
import type { ClusterReader } from './cluster-reader.js';
import type { ListedBeside, ListedKind } from './listed-kind.js';
import { rowsOf } from './listed-rows.js';
import { RowChanges } from './row-changes.js';

/** How often rows that change with time are checked. */
const TIMED_EACH_MS = 1_000;

/** @throws the error of the first list, and any refusal. */
export async function watchRows<Row extends object>(settings: WatchSettings<Row>): Promise<void> {
  const watch = new ListWatch(settings);
  settings.stop.addEventListener('abort', () => watch.stop(), { once: true });
  await watch.run();
}

/** Formats rows as lines, the first time with a header. */
export type RowPrinter<Row> = (rows: readonly Row[], state?: 'gone') => readonly string[];

export interface WatchSettings<Row extends object> {
  readonly reader: ClusterReader;
  readonly kind: ListedKind<Row>;
  readonly print: RowPrinter<Row>;
  /** True if changes of wide columns are reported. */
  readonly isWide: boolean;
  /** Ends the watch. */
  readonly stop: AbortSignal;
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

  /** The right was revoked: try again, and keep using the last result. */
  #printRefusal(error: unknown): void {
    if (this.#isRefusalPrinted) return;
    this.#isRefusalPrinted = true;
    process.stderr.write(`${messageOf(error)}; until then, the last result is used\n`);
  }

  /** Everything has arrived: print it at once, in order. */
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

  /** A first list that fails ends the command; later the watch continues. */
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
