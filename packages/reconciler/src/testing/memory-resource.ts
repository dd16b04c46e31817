/** Objects of one kind in memory, listed and watched as in an API server, with its faults on demand. */
import type { Clock } from '../machinery/clock.js';
import { keyOf } from '../machinery/reflector.js';
import {
  type ApiObjectLike,
  ExpiredError,
  type ListPage,
  type ResourcePort,
  type WatchEvent,
  type WatchHandlers,
} from '../machinery/resource-port.js';

interface Change<Kind> {
  readonly version: number;
  readonly event: Extract<WatchEvent<Kind>, { readonly object: Kind }>;
}

interface OpenWatch<Kind> {
  readonly handlers: WatchHandlers<Kind>;
  sentUpTo: number;
}

export class MemoryResource<Kind extends ApiObjectLike> implements ResourcePort<Kind> {
  /** The next requests fail, so many of them. */
  failNext = 0;
  /** Lists and watches that were begun. */
  readonly requests = { lists: 0, watches: 0 };
  readonly #clock: Clock;
  readonly #objects = new Map<string, Kind>();
  #changes: Change<Kind>[] = [];
  #version = 0;
  /** Changes up to here are forgotten. */
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

  delete(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#objects.delete(key);
    this.#publish({ type: 'deleted', object: this.#stamped(object) });
  }

  /** Tells all watches how far they are. */
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

  /** Forgets what happened so far, continue tokens included. */
  compact(): void {
    this.#compactedUpTo = this.#version;
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
    if (version < this.#compactedUpTo) throw new ExpiredError('the continue token is too old');
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
    const objects = new Map(this.#objects);
    for (const { version: changedAt, event } of this.#changes.toReversed()) {
      if (changedAt <= version) break;
      const key = keyOf(event.object);
      const before = this.#changes.findLast((change) => change.version <= version && keyOf(change.event.object) === key);
      if (before === undefined || before.event.type === 'deleted') objects.delete(key);
      else objects.set(key, before.event.object);
    }
    return [...objects].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }
}
