import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { HeadLeader } from './head-content.js';
import { type LeaseSlicePorts, newSlice, sliceName } from './lease-slices.js';
import { answered, LeasesRefusedError, type Retries, storedWhenCertain } from './stored-when-certain.js';

/** The number of writes at the same time. */
const MOST_WRITES = 4;

export interface SliceWriterSettings extends Retries {
  readonly slices: LeaseSlicePorts['slices'];
  /** The content of the head, without its name; each slice has it, under its own name. */
  readonly metadata: KubernetesObject['metadata'];
  readonly leader: Pick<HeadLeader, 'identity' | 'term'>;
}

/** A slice that exists and never changes. */
export interface WrittenSlice {
  readonly name: string;
  readonly version: string;
}

/** Creates slices. They count when the head names them; those that it never names are deleted later. */
export class SliceWriter {
  readonly metadata: KubernetesObject['metadata'];
  readonly leader: SliceWriterSettings['leader'];
  readonly #settings: SliceWriterSettings;
  #count = 0;

  constructor(settings: SliceWriterSettings) {
    this.#settings = settings;
    this.metadata = settings.metadata;
    this.leader = settings.leader;
  }

  /**
   * Returns slices in the order of the texts, and writes some at the same time. @throws the error that prevents a write, after
   * all writes have ended.
   */
  async writeAll(texts: Iterable<string>): Promise<WrittenSlice[]> {
    const written: WrittenSlice[] = [];
    const waiting = texts[Symbol.iterator]();
    let begun = 0;
    const write = async () => {
      for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
        const place = begun++;
        written[place] = await this.write(next.value);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: MOST_WRITES }, write));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return written;
  }

  /** A lost response leaves a slice that does not count: the next attempt uses another name. */
  write(records: string): Promise<WrittenSlice> {
    const { slices, clock, metadata, leader } = this.#settings;
    return storedWhenCertain(this.#settings, async () => {
      const name = sliceName(metadata.name, { term: leader.term, number: this.#count++ });
      const result = await answered(clock, slices.create(newSlice({ ...metadata, name }, { leader, records })));
      if (result.ok) return { name, version: result.object.metadata.resourceVersion ?? '' };
      if (result.reason === 'already-exists') return undefined;
      throw new LeasesRefusedError(`${keyOf({ metadata: { ...metadata, name } })}: ${result.message}`);
    });
  }
}
