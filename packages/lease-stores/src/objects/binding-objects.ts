/**
 * Keeps the leases of unknown clients in API objects, so that any replica of an agent can take over. One LeaseSlice is the head:
 * it has the newest records, and the names of the slices with the records before them. Each write changes the head; a slice that
 * the head does not name is ignored. When the head is full, its records move to a new slice, which never changes again; a
 * snapshot writes all records to new slices, and then the head names these.
 *
 * So the version of one object decides who may write: an agent that takes over claims the head, and from then on every write of
 * the former leader is refused (`lease-head.ts`), including those in progress.
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
 * - `headOctets`: each write sends the whole head, so this size sets the price of a write.
 * - `sliceOctets`: an API server accepts up to 1.5 MiB in one object.
 */
const LIMITS = { headOctets: 16 << 10, sliceOctets: 256 << 10 };
/** The shortest time between writes: records that arrive in between are written together. */
const SHORTEST_INTERVAL_MS = 50;
/** A snapshot pays off when this many records more than twice the current ones are stored. */
const FEWEST_SUPERSEDED = 2_000;

export interface BindingObjectsSettings extends Retries, LeaseSlicePorts {
  readonly namespace: string;
  readonly clusterAgent: string;
  /** Names this replica for people: its pod. */
  readonly replica: string;
  /** The owner of the slices: they are deleted with it. */
  readonly owner?: OwnerReference;
  /**
   * Called before each write: if it returns false, nothing is written. Default: always true. A former leader is kept from writing
   * even without it.
   */
  readonly mayWrite?: () => boolean;
  /** For tests and measurements. */
  readonly limits?: typeof LIMITS;
  /** Called with a description when another client deleted or changed an object, which was then written again. */
  readonly onDamage: (problem: string) => void;
  /** Called once when another replica has taken over: this one records nothing more. */
  readonly onTakenOver: () => void;
}

interface Stored {
  readonly content: HeadContent;
  /** The numbers of records in slices, by name. */
  readonly versions: ReadonlyMap<string, string>;
  readonly records: number;
}

/** Stores leases of unknown clients in API objects: each write is fenced by the head, which names the slices that count. */
export class BindingObjects implements RecordStore {
  readonly #settings: BindingObjectsSettings;
  readonly #head: LeaseHead;
  readonly #writer: SliceWriter;
  readonly #limits: typeof LIMITS;
  #stored: Stored;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #isOver = false;
  #deletion: Promise<unknown> = Promise.resolve();
  /** Runs operations one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Takes over from any other replica, and reads what is stored. Call it when this replica is leader, before it serves.
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

  /** Resolves when all of these are stored and this replica was allowed to write. @throws Error in words for a person. */
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

  /** Resolves when only these are stored. @throws Error in words for a person; the stored records are unchanged then. */
  replace(records: Iterable<BindingRecord>): Promise<void> {
    return this.#inTurn(async () => {
      const former = this.#stored.content.slices;
      const count = { records: 0 };
      const texts = counted(textsOf(records, this.#limits.sliceOctets), count);
      const written = await this.#writer.writeAll(texts);
      const content = { slices: written.map(({ name }) => name), records: '' };
      await this.#head.write(content);
      this.#stored = { content, versions: withVersions(new Map(), written), records: count.records };
      // These are no longer named, whatever write is still in progress.
      this.#deletion = this.#deletion.then(() => this.#delete(new Set(former)));
    });
  }

  /** Writes the head again, to see whether the API server accepts writes. */
  repair(): Promise<void> {
    return this.#inTurn(() => this.#head.write(this.#stored.content));
  }

  /**
   * Describes the slices that another client deleted or changed: then a snapshot is needed. Repairs the head at once. Deletes
   * slices that no head names.
   * @throws Error if the API server does not respond.
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
      // After this write no earlier one can take effect, and this replica is still leader: a slice that the head does not name
      // now will never be named.
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

  /** `check` finds those that cannot be deleted now. */
  async #delete(names: ReadonlySet<string>): Promise<void> {
    if (names.size === 0) return;
    const { slices, versions } = this.#settings;
    try {
      for await (const { metadata } of listVersions(versions))
        if (names.has(metadata.name) && metadata.uid !== undefined) await slices.delete(keyOf({ metadata }), metadata.uid);
    } catch {
      // They use space, but are harmless.
    }
  }

  /** Keeps a copy of a text with corrupt records for inspection. */
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
  // `slices` has all methods of an ObjectClient that are called here.
  return mayWrite === undefined ? slices : fencedClient(slices as Parameters<typeof fencedClient>[0], mayWrite);
}

function metadataOf({ namespace, clusterAgent, owner }: BindingObjectsSettings): KubernetesObject['metadata'] {
  return {
    ...{ namespace, name: headName(clusterAgent), labels: { [LEASES_OF_LABEL]: labelOf(clusterAgent) } },
    ...(owner !== undefined && { ownerReferences: [owner] }),
  };
}

/** Without a head: all slices that may count, in the order in which they were written. */
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
