/**
 * The leases of unknown clients in API objects, so that any replica of an agent can go on with them. One LeaseSlice is the head: it has the newest records
 * and the names of the slices whose records come before. Each write changes the head, and nothing that the head does not name counts. When the head is full,
 * its records go to a slice of their own, which never changes again; a snapshot writes all records to new slices, then the head names these.
 *
 * So one version decides who may write: an agent that takes over claims the head, and from then on no write of the former one can happen
 * (`lease-head.ts`), whatever it still has under way.
 */
import { randomUUID } from 'node:crypto';
import type { BindingRecord, BindingTable } from '@vmdhcp/dhcp-allocator';
import { LEASES_OF_LABEL, SET_ASIDE_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { fencedClient, type KubernetesObject, keyOf, type OwnerReference } from '@vmdhcp/kube-runtime';
import { type OpenedRecords, type RecordReport, type RecordStore, reportCorrupt } from '../bindings/opened-records.js';
import { recordsOf, tableOf } from '../bindings/tables-by-pool.js';
import type { HeadContent } from './head-content.js';
import { LeaseHead } from './lease-head.js';
import { compareSliceIds, headName, type LeaseSlicePorts, labelOf, newSlice, type SliceId, sliceIdOf } from './lease-slices.js';
import { type DamagedSlice, listVersions, readSlices } from './read-slices.js';
import { countLines, textsOf } from './slice-text.js';
import { SliceWriter, type WrittenSlice } from './slice-writer.js';
import { LeasesTakenOverError, type Retries } from './stored-when-certain.js';

/**
 * - `headOctets`: each write sends the head as a whole, so the price of a write is that of this much.
 * - `sliceOctets`: an API server takes 1.5 MiB in one object.
 */
const LIMITS = { headOctets: 16 << 10, sliceOctets: 256 << 10 };
/** Writes begin at most so often: what comes between goes together. */
const SHORTEST_INTERVAL_MS = 50;
/** A snapshot is worth its price when so many more than twice those that count are stored. */
const FEWEST_SUPERSEDED = 2_000;

export interface BindingObjectsSettings extends Retries, LeaseSlicePorts {
  readonly namespace: string;
  readonly clusterAgent: string;
  /** Of this replica, for people: its pod. */
  readonly replica: string;
  /** The slices are deleted with it. */
  readonly owner?: OwnerReference;
  /** Asked before each write: false, and nothing is written. Default: always true. What keeps a former leader from writing does not depend on it. */
  readonly mayWrite?: () => boolean;
  /** For tests and measurements. */
  readonly limits?: typeof LIMITS;
  /** Called with words when another client deleted or changed an object, which was then written again. */
  readonly onDamage: (problem: string) => void;
  /** Called once when another replica has taken over: this one records nothing any more. */
  readonly onTakenOver: () => void;
}

interface Stored {
  readonly content: HeadContent;
  /** Of the slices in it, by name. */
  readonly versions: ReadonlyMap<string, string>;
  readonly records: number;
}

/** Leases of unknown clients in API objects: each write is fenced by the Lease that names which slices count. */
export class BindingObjects implements RecordStore {
  readonly #settings: BindingObjectsSettings;
  readonly #head: LeaseHead;
  readonly #writer: SliceWriter;
  readonly #limits: typeof LIMITS;
  #stored: Stored;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #isOver = false;
  #deletion: Promise<unknown> = Promise.resolve();
  /** One thing after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Takes over from any other replica, and reads what is stored. To be called when this one leads, before it serves.
   * @throws Error in words for a person.
   */
  static async open(given: BindingObjectsSettings): Promise<OpenedRecords> {
    const settings = { ...given, slices: fencedSlices(given) };
    const name = headName(given.clusterAgent);
    const identity = `${given.replica} ${randomUUID()}`;
    const metadata = metadataOf(given);
    const head = await LeaseHead.claim({ ...settings, metadata, identity }, () => slicesInOrder(settings, name)).catch(
      (error: unknown) => {
        throw describeFailure(given, error);
      },
    );
    const { content } = head;
    const tables = new Map<string, BindingTable>();
    const reading = await readSlices(settings.slices, { ...content, name }, (record) => tableOf(tables, record).apply(record));
    const writer = new SliceWriter({ ...settings, metadata, leader: { identity, term: head.term } });
    const store = new BindingObjects(settings, { head, writer, stored: { content, ...reading } });
    const reports: RecordReport[] = [];
    if (head.wasLost) reports.push(reportOfLostHead(keyOf({ metadata }), content.slices.length));
    for (const damaged of reading.damaged) reports.push(...(await store.#setAside(damaged)));
    if (reading.damaged.length > 0) await store.replace(recordsOf(tables));
    return { store, tables, reports };
  }

  private constructor(
    settings: BindingObjectsSettings,
    opened: { readonly head: LeaseHead; readonly writer: SliceWriter; readonly stored: Stored },
  ) {
    this.#settings = settings;
    this.#limits = settings.limits ?? LIMITS;
    this.#head = opened.head;
    this.#writer = opened.writer;
    this.#stored = opened.stored;
  }

  isLong(counting: number): boolean {
    return this.#stored.records > 2 * counting + FEWEST_SUPERSEDED;
  }

  /** Resolves when all of these are stored, and this replica was the one that may write. @throws Error in words for a person. */
  append(records: readonly BindingRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    return this.#inTurn(async () => {
      await this.#pace();
      const { content, versions, records: count } = this.#stored;
      const { headOctets, sliceOctets } = this.#limits;
      const texts = [...textsOf(records, sliceOctets)];
      const added = texts.join('');
      const isRoom = texts.length === 1 && (content.records === '' || content.records.length + added.length <= headOctets);
      const newest = isRoom ? '' : (texts.pop() ?? '');
      const written = isRoom ? [] : await this.#writer.writeAll([content.records, ...texts].filter((text) => text !== ''));
      const next = isRoom
        ? { slices: content.slices, records: content.records + added }
        : { slices: [...content.slices, ...written.map(({ name }) => name)], records: newest };
      await this.#head.write(next);
      this.#stored = { content: next, versions: withVersions(versions, written), records: count + records.length };
    });
  }

  /** Resolves when these are stored and no others. @throws Error in words for a person; what is stored is as it was then. */
  replace(records: Iterable<BindingRecord>): Promise<void> {
    return this.#inTurn(async () => {
      const former = this.#stored.content.slices;
      const count = { records: 0 };
      const texts = counted(textsOf(records, this.#limits.sliceOctets), count);
      const written = await this.#writer.writeAll(texts);
      const content = { slices: written.map(({ name }) => name), records: '' };
      await this.#head.write(content);
      this.#stored = { content, versions: withVersions(new Map(), written), records: count.records };
      // They count no more, whatever is still under way.
      this.#deletion = this.#deletion.then(() => this.#delete(new Set(former)));
    });
  }

  /** Writes the head again: it shows that the API server takes writes. */
  repair(): Promise<void> {
    return this.#inTurn(() => this.#head.write(this.#stored.content));
  }

  /**
   * Which slices another client deleted or changed, in words: a snapshot is needed then. The head is repaired at once. Deletes slices that no head names.
   * @throws Error if the API server does not answer.
   */
  check(): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      const { versions } = this.#stored;
      const { namespace, clusterAgent } = this.#settings;
      const name = headName(clusterAgent);
      const present = new Map<string, string>();
      for await (const { metadata } of listVersions(this.#settings.versions))
        present.set(metadata.name, metadata.resourceVersion ?? '');
      const unnamed = [...present.keys()].filter((one) => sliceIdOf(name, one) !== undefined && !versions.has(one));
      // After this write no earlier one can happen any more, and this replica still leads: what the head does not name now it never will.
      if (unnamed.length > 0 || present.get(name) !== this.#head.version) await this.#head.write(this.#stored.content);
      await this.#delete(new Set(unnamed));
      return [...versions].flatMap(([name, version]) => {
        if (present.get(name) === version) return [];
        const what = present.has(name) ? 'was changed' : 'was deleted';
        return [`lease slice ${namespace}/${name} ${what} by another client; its records are written again from memory`];
      });
    });
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#deletion;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work).catch((error: unknown) => {
      if (error instanceof LeasesTakenOverError && !this.#isOver) {
        this.#isOver = true;
        this.#settings.onTakenOver();
      }
      throw describeFailure(this.#settings, error);
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #pace(): Promise<void> {
    const { clock } = this.#settings;
    const delayMs = this.#begunAtMs + SHORTEST_INTERVAL_MS - clock.nowMs();
    if (delayMs > 0) await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
    this.#begunAtMs = clock.nowMs();
  }

  /** Those that cannot be deleted now are found by `check`. */
  async #delete(names: ReadonlySet<string>): Promise<void> {
    if (names.size === 0) return;
    const { slices, versions } = this.#settings;
    try {
      for await (const { metadata } of listVersions(versions))
        if (names.has(metadata.name) && metadata.uid !== undefined) await slices.delete(keyOf({ metadata }), metadata.uid);
    } catch {
      // They take room, and do no harm.
    }
  }

  /** Keeps a text with corrupt records for a person to look at. */
  async #setAside({ name, text, lost }: DamagedSlice): Promise<RecordReport[]> {
    const { namespace, clusterAgent, slices } = this.#settings;
    const fields = { slice: `${namespace}/${name}` };
    if (text === undefined)
      return [{ level: 'error', fields, message: 'the lease slice was deleted while no agent led; its leases are lost' }];
    const { leader, metadata } = this.#writer;
    const place = name.slice(metadata.name.length);
    const setAsideAs = `${metadata.name}-corrupt-${this.#head.term}${place}`;
    const labels = { [SET_ASIDE_LABEL]: labelOf(clusterAgent) };
    const kept = await slices
      .create(newSlice({ ...metadata, name: setAsideAs, labels }, { leader, records: text }))
      .catch(() => undefined);
    return reportCorrupt(lost, { ...fields, ...(kept?.ok === true && { setAsideAs: `${namespace}/${setAsideAs}` }) });
  }
}

function fencedSlices({ slices, mayWrite }: BindingObjectsSettings): LeaseSlicePorts['slices'] {
  // `slices` is all of an ObjectClient that is called here.
  return mayWrite === undefined ? slices : fencedClient(slices as Parameters<typeof fencedClient>[0], mayWrite);
}

function metadataOf({ namespace, clusterAgent, owner }: BindingObjectsSettings): KubernetesObject['metadata'] {
  return {
    ...{ namespace, name: headName(clusterAgent), labels: { [LEASES_OF_LABEL]: labelOf(clusterAgent) } },
    ...(owner !== undefined && { ownerReferences: [owner] }),
  };
}

/** Where there is no head: all that may count, in the order in which it was written. */
async function slicesInOrder(
  { versions }: BindingObjectsSettings,
  head: string,
): Promise<{ readonly slices: readonly string[]; readonly term: number }> {
  const ids: (SliceId & { readonly name: string })[] = [];
  for await (const { metadata } of listVersions(versions)) {
    const id = sliceIdOf(head, metadata.name);
    if (id !== undefined) ids.push({ ...id, name: metadata.name });
  }
  return { slices: ids.toSorted(compareSliceIds).map(({ name }) => name), term: Math.max(0, ...ids.map(({ term }) => term)) };
}

function reportOfLostHead(slice: string, count: number): RecordReport {
  const message = `the lease slice was deleted while no agent led; the newest leases are lost, those of ${count} other slices are used`;
  return { level: 'error', fields: { slice }, message };
}

function* counted(texts: Iterable<string>, count: { records: number }): Generator<string> {
  for (const text of texts) {
    count.records += countLines(text);
    yield text;
  }
}

function withVersions(versions: ReadonlyMap<string, string>, written: readonly WrittenSlice[]): Map<string, string> {
  return new Map([...versions, ...written.map(({ name, version }) => [name, version] as const)]);
}

function describeFailure({ namespace, clusterAgent }: BindingObjectsSettings, error: unknown): Error {
  const where = `lease slices ${namespace}/${headName(clusterAgent)}`;
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`${where} cannot be written: ${reason}`, { cause: error });
}
