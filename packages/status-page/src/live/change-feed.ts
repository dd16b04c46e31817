/**
 * Sends changes to all viewers: it collects the changes of a second, writes each once however many viewers there are, and does nothing without viewers.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { PageEvent, Section } from '../model/page-data.js';
import { diffPools, type VersionedPool } from '../pool/diff-pools.js';
import { sumCounts } from '../pool/draw-map.js';
import type { LeaseNames } from '../pool/pool-leases.js';
import type { PageSource, SourceChange } from '../source/page-source.js';

/** From the first change to the check for all changes. */
export const GATHER_MS = 1_000;

/** A viewer. */
export interface Viewer {
  /** The pool that the viewer has opened; undefined for none. */
  readonly pool: string | undefined;
  /** The version of the pool that the viewer has. */
  readonly version: string | undefined;
  /** What the viewer may see. */
  readonly sections: ReadonlySet<Section>;
  /** @param text - a server-sent event. */
  readonly send: (text: string) => void;
}

/** A server-sent event as text; JSON has no line breaks. */
export function formatEvent({ kind, data }: PageEvent): string {
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}

export class ChangeFeed {
  readonly #source: PageSource;
  readonly #clock: Clock;
  readonly #viewers = new Set<Viewer>();
  /** Pools with viewers, in the version that the viewers know. */
  readonly #watched = new Map<string, VersionedPool | undefined>();
  #summaries = new Map<string, string>();
  readonly #changedPools = new Set<string>();
  readonly #changedSections = new Set<Section>();
  #unsubscribe: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(source: PageSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** The number of viewers. */
  get size(): number {
    return this.#viewers.size;
  }

  /** The version of a pool that its viewers know, otherwise the newest one. A page that loads the pool continues with the changes after it. */
  pool(key: string): VersionedPool | undefined {
    return this.#watched.get(key) ?? this.#source.pool(key);
  }

  add(viewer: Viewer): void {
    if (this.#viewers.size === 0) this.#begin();
    this.#viewers.add(viewer);
    const { pool, version } = viewer;
    if (pool === undefined || !viewer.sections.has('pools')) return;
    if (!this.#watched.has(pool)) this.#watched.set(pool, this.#source.pool(pool));
    if (this.#watched.get(pool)?.version !== version) viewer.send(formatEvent({ kind: 'pool', data: { kind: 'reset', pool } }));
  }

  remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    const { pool } = viewer;
    if (pool !== undefined && ![...this.#viewers].some((other) => other.pool === pool)) this.#watched.delete(pool);
    if (this.#viewers.size === 0) this.stop();
  }

  /** Stops all viewers. */
  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#watched.clear();
    this.#changedPools.clear();
    this.#changedSections.clear();
  }

  #begin(): void {
    this.#summaries = new Map(this.#source.pools().map(({ key, summary }) => [key, JSON.stringify(summary)]));
    this.#unsubscribe = this.#source.onChange((change) => this.#note(change));
  }

  #note({ section, pool }: SourceChange): void {
    if (pool === undefined) this.#changedSections.add(section);
    else this.#changedPools.add(pool);
    this.#cancel ??= this.#clock.after(GATHER_MS, () => this.#look());
  }

  #look(): void {
    this.#cancel = undefined;
    const [pools, sections] = [[...this.#changedPools], [...this.#changedSections]];
    this.#changedPools.clear();
    this.#changedSections.clear();
    this.#tellSummaries(pools);
    for (const pool of pools) if (this.#watched.has(pool)) this.#tellPool(pool);
    this.#tellSections(sections);
    // An address may have another client while the summary of its pool stays the same. A viewer that has opened one pool is told what changed in it.
    if (pools.length > 0) this.#tellSections(['pools'], ({ pool }) => pool === undefined);
  }

  #tellSummaries(keys: readonly string[]): void {
    const now = keys.map((key) => ({ key, summary: this.#source.pool(key)?.snapshot.summary }));
    const removed = now.flatMap(({ key, summary }) => (summary === undefined && this.#summaries.delete(key) ? [key] : []));
    const changed = now.flatMap(({ key, summary }) => {
      if (summary === undefined) return [];
      const text = JSON.stringify(summary);
      if (this.#summaries.get(key) === text) return [];
      this.#summaries.set(key, text);
      return [summary];
    });
    if (removed.length + changed.length === 0) return;
    const totals = sumCounts(this.#source.pools().map(({ summary }) => summary.counts));
    const text = formatEvent({ kind: 'pools', data: { changed, removed, totals } });
    this.#tell(text, ({ sections }) => sections.has('pools'));
  }

  #tellPool(key: string): void {
    const [before, after] = [this.#watched.get(key), this.#source.pool(key)];
    if (before?.version === after?.version) return;
    this.#watched.set(key, after);
    const write = (names: LeaseNames) => {
      const reset = { kind: 'reset', pool: key } as const;
      const data = before === undefined || after === undefined ? reset : diffPools(before, after, names);
      return formatEvent({ kind: 'pool', data });
    };
    for (const seesMachines of [true, false]) {
      const isOne = ({ pool, sections }: Viewer) =>
        pool === key && sections.has('pools') && sections.has('machines') === seesMachines;
      if ([...this.#viewers].some(isOne)) this.#tell(write(seesMachines ? this.#source.machineOf : () => ''), isOne);
    }
  }

  #tellSections(sections: readonly Section[], isFor: (viewer: Viewer) => boolean = () => true): void {
    for (const section of sections) {
      const text = formatEvent({ kind: 'changed', data: { sections: [section] } });
      this.#tell(text, (viewer) => viewer.sections.has(section) && isFor(viewer));
    }
  }

  #tell(text: string, isFor: (viewer: Viewer) => boolean): void {
    for (const viewer of [...this.#viewers]) if (isFor(viewer)) viewer.send(text);
  }
}
