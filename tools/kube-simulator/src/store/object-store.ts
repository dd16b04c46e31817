/**
 * All objects, and what happened to them. One counter numbers every write of every kind; a collection contains the objects of one kind in the order
 * of their keys, keeps its recent changes (watches go on from there, lists look back), and calls its listeners for each change in order. The cost of
 * a write depends on the object, not on the number of stored objects.
 */
import type { ApiObject } from '../api-object.js';
import { Collection, type StoredObject } from './collection.js';

/** The largest object that etcd takes, in bytes. Source: --max-request-bytes, 1.5 MiB. */
const maxObjectBytes = 1_572_864;
const maxMessageBytes = 2_097_152;

export class TooLargeForStore extends Error {
  readonly code = 'too-large-for-store';
}

export class ObjectStore {
  #resourceVersion = 1;
  /** Changes up to here are forgotten. */
  #compacted = 0;
  readonly #collections = new Map<string, Collection>();

  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  get compactedResourceVersion(): number {
    return this.#compacted;
  }

  collection(name: string): Collection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      collection = new Collection(name);
      // What happened before is forgotten, also for kinds that had no objects then.
      collection.forgetChanges(this.#compacted);
      this.#collections.set(name, collection);
    }
    return collection;
  }

  collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  /** Stores a new object or a new version and returns it with its resourceVersion. */
  put(name: string, key: string, object: ApiObject): StoredObject {
    const collection = this.collection(name);
    const resourceVersion = this.#resourceVersion + 1;
    const stored = toStored(object, resourceVersion);
    assertFits(stored, `/registry/${name.replace(/^\//, '')}/${key}`, collection.get(key) !== undefined);
    this.#resourceVersion = resourceVersion;
    collection.put(key, stored);
    return stored;
  }

  /** Removes an object and returns its last state with the resourceVersion of the deletion. */
  remove(name: string, key: string, last: ApiObject): StoredObject {
    const collection = this.collection(name);
    this.#resourceVersion += 1;
    const stored = toStored(last, this.#resourceVersion);
    collection.remove(key, stored);
    return stored;
  }

  /** Takes over the objects of another store. As after a restart, no listener is called and no change is remembered. */
  restore(previous: ObjectStore): void {
    for (const collection of previous.#collections.values()) {
      for (const [key, stored] of collection.entries()) this.collection(collection.name).restore(key, stored);
    }
    this.#resourceVersion = previous.resourceVersion;
    this.compact();
  }

  /** Forgets all changes so far: watches and lists from before are answered with 410. */
  compact(): void {
    this.#compacted = this.#resourceVersion;
    for (const collection of this.#collections.values()) collection.forgetChanges(this.#compacted);
  }
}

function toStored(object: ApiObject, resourceVersion: number): StoredObject {
  const numbered: ApiObject = { ...object, metadata: withResourceVersion(object.metadata, String(resourceVersion)) };
  return { object: numbered, resourceVersion, json: Buffer.from(JSON.stringify(numbered)) };
}

/** Keeps the position of the key, because answers have the keys in this order. */
function withResourceVersion(metadata: ApiObject['metadata'], resourceVersion: string): ApiObject['metadata'] {
  return { ...metadata, resourceVersion };
}

/** Source: measured. A write names the key once more than a client sends it, an update twice, and etcd keeps no resourceVersion. */
function assertFits({ json, resourceVersion }: StoredObject, key: string, isUpdate: boolean): void {
  const ownBytes = json.length - `"resourceVersion":"${resourceVersion}",`.length;
  const messageBytes = ownBytes + 2 * key.length + 26;
  if (messageBytes > maxMessageBytes) {
    throw new TooLargeForStore(
      `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${messageBytes} vs. ${maxMessageBytes})`,
    );
  }
  const requestBytes = ownBytes + (isUpdate ? 3 * key.length + 60 : 2 * key.length + 41);
  if (requestBytes > maxObjectBytes) throw new TooLargeForStore('etcdserver: request is too large');
}
