/** Objects of one kind in memory, listed, watched and written as in an API server, with its faults on demand. */

import type { MergePatch, ObjectClient, SubresourceCall, WriteRefusal, WriteResult, WriteTarget } from '../api/object-client.js';
import { ExpiredError, type ListPage, type WatchEvent, type WatchHandlers } from '../api/resource-port.js';
import type { Clock } from '../clock/clock.js';
import { type ApiObjectLike, keyOf } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField } from '../object/read-field.js';
import { applyMergePatch } from './merge-patch.js';

/** The fate of a write: `lost-request` never happens, `lost-answer` happens but the writer does not learn of it. */
export type WriteFault = 'none' | 'lost-request' | 'lost-answer' | 'conflict';

interface Change<Kind> {
  readonly version: number;
  readonly event: Extract<WatchEvent<Kind>, { readonly object: Kind }>;
}

interface OpenWatch<Kind> {
  readonly handlers: WatchHandlers<Kind>;
  sentUpTo: number;
}

/** The effect of a subresource, such as `start` of a VirtualMachine. */
export type MemorySubresource<Kind> = (
  object: Kind,
  call: SubresourceCall,
) => { readonly answer?: unknown; readonly object?: Kind };

export class MemoryResource<Kind extends ApiObjectLike = KubernetesObject> implements ObjectClient<Kind> {
  /** How many of the next lists and watches fail. */
  failNext = 0;
  /** Called before each write to decide its fate. */
  writeFault: (what: string) => WriteFault = () => 'none';
  /** Called after each write that took effect, lost answers included. */
  onWritten: (what: string, key: string) => void = () => undefined;
  /** Subresources besides `status` and `scale`, by name: the answer of a call, and the new object (undefined if it stays). */
  readonly subresources = new Map<string, MemorySubresource<Kind>>();
  /** The wall clock, for creation and deletion; each object is one second younger than the one before. */
  #seconds = 0;
  /** The number of lists and watches begun. */
  readonly requests = { lists: 0, watches: 0 };
  readonly #clock: Clock;
  readonly #objects = new Map<string, Kind>();
  #changes: Change<Kind>[] = [];
  /** The objects before the changes. */
  #compacted: ReadonlyMap<string, Kind> = new Map();
  #version = 0;
  /** Changes up to this version are forgotten. */
  #compactedUpTo = 0;
  readonly #watches = new Set<OpenWatch<Kind>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** All objects by key. */
  get objects(): ReadonlyMap<string, Kind> {
    return this.#objects;
  }

  /** Creates or replaces an object; its resourceVersion is set here. */
  put(object: Kind): void {
    const key = keyOf(object);
    const type = this.#objects.has(key) ? 'modified' : 'added';
    const stored = this.#stamped(object);
    this.#objects.set(key, stored);
    this.#publish({ type, object: stored });
  }

  /** Removes an object, finalizers or not. */
  remove(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#objects.delete(key);
    this.#publish({ type: 'deleted', object: this.#stamped(object) });
  }

  /** Sends a bookmark to all watches. */
  bookmark(): void {
    this.#deliver();
    for (const { handlers } of this.#watches) handlers.onEvent({ type: 'bookmark', resourceVersion: String(this.#version) });
  }

  /** Ends all watches. */
  closeWatches(end: 'closed' | 'failed' | 'expired' = 'closed'): void {
    const open = [...this.#watches];
    this.#watches.clear();
    for (const { handlers } of open)
      handlers.onEnd(end === 'failed' ? { kind: 'failed', error: new Error('connection reset') } : { kind: end });
  }

  /** Forgets all history, including continue tokens. */
  compact(): void {
    this.#compactedUpTo = this.#version;
    this.#compacted = new Map(this.#objects);
    this.#changes = [];
  }

  readonly list = async ({
    limit,
    continueToken,
  }: {
    readonly limit: number;
    readonly continueToken?: string;
  }): Promise<ListPage<Kind>> => {
    this.requests.lists++;
    await this.#travel();
    const [version = this.#version, from = 0] = continueToken === undefined ? [] : continueToken.split(' ').map(Number);
    if (version < this.#version && version <= this.#compactedUpTo) throw new ExpiredError('the continue token is too old');
    const all = this.#at(version);
    const isLast = from + limit >= all.length;
    return {
      items: all.slice(from, from + limit),
      resourceVersion: String(version),
      ...(!isLast && { continueToken: `${version} ${from + limit}` }),
    };
  };

  readonly watch = (resourceVersion: string, handlers: WatchHandlers<Kind>): (() => void) => {
    this.requests.watches++;
    const watch: OpenWatch<Kind> = { handlers, sentUpTo: Number(resourceVersion) };
    let stopped = false;
    void this.#travel().then(
      () => {
        if (stopped) return;
        if (watch.sentUpTo < this.#compactedUpTo) {
          handlers.onEnd({ kind: 'expired' });
          return;
        }
        this.#watches.add(watch);
        this.#deliver();
      },
      (error: unknown) => {
        if (!stopped) handlers.onEnd({ kind: 'failed', error });
      },
    );
    return () => {
      stopped = true;
      this.#watches.delete(watch);
    };
  };

  readonly get = async (key: string): Promise<Kind | undefined> => {
    await this.#travel();
    return this.#objects.get(key);
  };

  readonly create = (object: Kind): Promise<WriteResult<Kind>> =>
    this.#write('create', keyOf(object), () => {
      if (this.#objects.has(keyOf(object))) return refused('already-exists', `"${object.metadata.name}" already exists`);
      const { status: _, ...given } = object as Kind & KubernetesObject;
      const creationTimestamp = timestamp(this.#seconds++);
      const metadata = { ...given.metadata, uid: `uid-${this.#version + 1}`, generation: 1, creationTimestamp };
      this.put({ ...given, metadata } as unknown as Kind);
      return { ok: true, object: this.#objects.get(keyOf(object)) as Kind };
    });

  readonly patch = (target: WriteTarget, patch: MergePatch): Promise<WriteResult<Kind>> =>
    this.#update('patch', target, (stored) => {
      const { status: _, ...changes } = patch;
      const changed = applyMergePatch(stored, changes) as Kind & KubernetesObject;
      const isNew = JSON.stringify(changed.spec) !== JSON.stringify(stored.spec);
      const generation = (stored.metadata.generation ?? 0) + (isNew ? 1 : 0);
      return { ...changed, metadata: { ...changed.metadata, generation } };
    });

  readonly patchStatus = (target: WriteTarget, patch: MergePatch): Promise<WriteResult<Kind>> =>
    this.#update('patchStatus', target, (stored) => ({
      ...stored,
      status: applyMergePatch(stored.status, (patch as { status?: unknown }).status ?? {}),
    }));

  readonly delete = (key: string, uid: string, resourceVersion?: string): Promise<WriteResult<Kind | undefined>> =>
    this.#write<Kind | undefined>('delete', key, () => {
      const stored = this.#objects.get(key) as (Kind & KubernetesObject) | undefined;
      if (stored === undefined) return refused('not-found', `"${key}" not found`);
      if (stored.metadata.uid !== uid) return refused('conflict', 'the UID in the precondition is another');
      if (resourceVersion !== undefined && stored.metadata.resourceVersion !== resourceVersion)
        return refused('conflict', 'the resourceVersion in the precondition is another');
      if ((stored.metadata.finalizers ?? []).length === 0) this.remove(key);
      else if (stored.metadata.deletionTimestamp === undefined) {
        const deletionTimestamp = timestamp(this.#seconds++);
        this.put({ ...stored, metadata: { ...stored.metadata, deletionTimestamp } });
      }
      return { ok: true, object: this.#objects.get(key) };
    });

  readonly subresource = (call: SubresourceCall): Promise<WriteResult<unknown>> => {
    const { key, name, verb, body = {}, resourceVersion } = call;
    if (verb === 'get') return this.#read(call);
    if (name === 'status' && verb === 'patch') return this.patchStatus({ key, resourceVersion }, body);
    if (name === 'scale' && verb === 'patch') return this.#patchScale(call);
    return this.#write(name, key, () => {
      const [object, act] = [this.#objects.get(key), this.subresources.get(name)];
      if (object === undefined || act === undefined) return refused('not-found', `"${key}" or its ${name} not found`);
      const { answer, object: changed } = act(object, call);
      if (changed !== undefined) this.put(changed);
      return { ok: true, object: answer };
    });
  };

  async #read({ key, name }: SubresourceCall): Promise<WriteResult<unknown>> {
    const object = await this.get(key);
    if (object !== undefined && name === 'status') return { ok: true, object };
    const scale = object === undefined || name !== 'scale' ? undefined : toScale(object);
    return scale === undefined ? refused('not-found', `"${key}" or its ${name} not found`) : { ok: true, object: scale };
  }

  async #patchScale({ key, body, resourceVersion }: SubresourceCall): Promise<WriteResult<unknown>> {
    const before = this.#objects.get(key);
    if (before !== undefined && toScale(before) === undefined) return refused('not-found', `"${key}" has no scale`);
    const result = await this.patch({ key, resourceVersion }, { spec: { replicas: readField(body, 'spec', 'replicas') } });
    return result.ok ? { ok: true, object: toScale(result.object) } : result;
  }

  #update(
    what: string,
    { key, resourceVersion }: WriteTarget,
    change: (stored: Kind & KubernetesObject) => KubernetesObject,
  ): Promise<WriteResult<Kind>> {
    return this.#write(what, key, () => {
      const stored = this.#objects.get(key) as (Kind & KubernetesObject) | undefined;
      if (stored === undefined) return refused('not-found', `"${key}" not found`);
      if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) {
        return refused('conflict', `"${key}" has been modified`);
      }
      const changed = change(stored);
      if (JSON.stringify(changed) === JSON.stringify(stored)) return { ok: true, object: stored };
      if (changed.metadata.deletionTimestamp !== undefined && (changed.metadata.finalizers ?? []).length === 0) {
        this.remove(key);
        return { ok: true, object: changed as unknown as Kind };
      }
      this.put(changed as unknown as Kind);
      return { ok: true, object: this.#objects.get(key) as Kind };
    });
  }

  async #write<Answer>(what: string, key: string, act: () => WriteResult<Answer>): Promise<WriteResult<Answer>> {
    const fault = this.writeFault(what);
    await new Promise<void>((resolve) => this.#clock.after(1, resolve));
    if (fault === 'lost-request') throw new Error('connection reset before the request was read');
    if (fault === 'conflict') return refused('conflict', 'another client was faster');
    const result = act();
    if (result.ok) this.onWritten(what, key);
    if (fault === 'lost-answer') throw new Error('connection reset before the answer was read');
    await new Promise<void>((resolve) => this.#clock.after(1, resolve));
    return result;
  }

  async #travel(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.after(1, resolve));
    if (this.failNext === 0) return;
    this.failNext--;
    throw new Error('HTTP 500');
  }

  #stamped(object: Kind): Kind {
    this.#version++;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #publish(event: Change<Kind>['event']): void {
    this.#changes.push({ version: this.#version, event });
    this.#deliver();
  }

  #deliver(): void {
    for (const watch of [...this.#watches]) {
      for (const { version, event } of this.#changes) {
        if (version <= watch.sentUpTo) continue;
        watch.sentUpTo = version;
        watch.handlers.onEvent(event);
      }
    }
  }

  /** All objects as they were at a version, in order of their keys. */
  #at(version: number): Kind[] {
    const objects = version < this.#version ? this.#replayed(version) : this.#objects;
    return [...objects].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  #replayed(version: number): Map<string, Kind> {
    const objects = new Map(this.#compacted);
    for (const { version: changedAt, event } of this.#changes) {
      if (changedAt > version) break;
      if (event.type === 'deleted') objects.delete(keyOf(event.object));
      else objects.set(keyOf(event.object), event.object);
    }
    return objects;
  }
}

/** The autoscaling/v1 Scale; undefined for an object without replicas. */
function toScale({ metadata, ...object }: ApiObjectLike): object | undefined {
  const replicas = readField(object, 'spec', 'replicas');
  if (typeof replicas !== 'number') return undefined;
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { namespace, name, uid, resourceVersion },
    spec: { replicas },
    status: { replicas: readField(object, 'status', 'replicas') ?? 0 },
  };
}

function refused(
  reason: WriteRefusal,
  message: string,
): { readonly ok: false; readonly reason: WriteRefusal; readonly message: string } {
  return { ok: false, reason, message };
}

/** This many seconds after the beginning of a day. */
function timestamp(seconds: number): string {
  const parts = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  return `2026-01-01T${parts.map((part) => String(part).padStart(2, '0')).join(':')}Z`;
}
