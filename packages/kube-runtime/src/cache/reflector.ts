/**
 * Keeps a copy of all objects of one kind, by list and watch, whatever happens to the connection:
 *
 * - a list in pages, begun anew when the server forgets it; what is gone since the last list is told as deleted;
 * - a watch from there, gone on with where it ended, and a new list when the server has forgotten that;
 * - failures wait, longer each time, and everything else goes on; a watch that says nothing for long is replaced;
 * - `synced` says honestly whether there has been a whole list.
 *
 * Who listens is told keys: it looks at the copy when it gets round to it.
 */

import { ExpiredError, type ResourcePort, type WatchEnd, type WatchEvent } from '../api/resource-port.js';
import { askedDelayMs, type BackOffSettings, backOffMs } from '../clock/back-off.js';
import type { Clock } from '../clock/clock.js';
import { type ApiObjectLike, keyOf } from '../object/api-object.js';

export interface ReflectorSettings<Kind extends ApiObjectLike> {
  readonly port: ResourcePort<Kind>;
  readonly clock: Clock;
  readonly backOff: BackOffSettings;
  /** Something about this object changed: it came, went, or is another than before. */
  readonly onChange: (key: string) => void;
  /** The first whole list is in the copy, and every key of it was told. */
  readonly onSynced?: () => void;
  /** The copy is a whole list again, as of `resourceVersion`. */
  readonly onListed?: () => void;
  /** Something failed and will be tried again. Also what `onChange` throws. */
  readonly onError?: (error: unknown) => void;
  /** Objects in a page; default 500. */
  readonly pageSize?: number;
  /** A watch without event or bookmark for so long is taken for dead; default five minutes. */
  readonly silenceMs?: number;
}

const PAGE_SIZE = 500;
const SILENCE_MS = 300_000;

export class Reflector<Kind extends ApiObjectLike> {
  readonly #settings: ReflectorSettings<Kind>;
  #objects = new Map<string, Kind>();
  #synced = false;
  #stopped = false;
  #failures = 0;
  /** Watches in a row that ended because what they were to go on from was forgotten, and brought nothing. */
  #expiries = 0;
  #resourceVersion = '';
  /** Lists that were begun: the answer to an earlier one is not waited for. */
  #round = 0;
  #stopWatch: () => void = () => undefined;
  #callOffTimer: () => void = () => undefined;
  #callOffSilence: () => void = () => undefined;

  constructor(settings: ReflectorSettings<Kind>) {
    this.#settings = settings;
  }

  /** True once there has been a whole list. */
  get synced(): boolean {
    return this.#synced;
  }

  /** The object as it was last seen. */
  get(key: string): Kind | undefined {
    return this.#objects.get(key);
  }

  /** Everything up to here has been seen; empty before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** How many objects there are. */
  get size(): number {
    return this.#objects.size;
  }

  /** All objects, in no order that means anything. */
  values(): IterableIterator<Kind> {
    return this.#objects.values();
  }

  /** Keys of all objects. */
  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  start(): void {
    this.#list();
  }

  /** Lists everything anew: `onListed` tells when the copy is at least as new as this call. */
  relist(): void {
    this.#stopWatch();
    this.#callOffTimer();
    this.#callOffSilence();
    this.#list();
  }

  /** Nothing is told any more; the copy stays as it is. */
  stop(): void {
    this.#stopped = true;
    this.#stopWatch();
    this.#callOffTimer();
    this.#callOffSilence();
  }

  #list(): void {
    const round = ++this.#round;
    // Settles always: what goes wrong is tried again.
    void this.#listAll().then(
      ({ objects, resourceVersion }) => {
        if (this.#stopped || round !== this.#round) return;
        this.#failures = 0;
        this.#resourceVersion = resourceVersion;
        this.#replace(objects);
        this.#watch();
      },
      (error: unknown) => {
        if (round === this.#round) this.#retry(error, () => this.#list());
      },
    );
  }

  async #listAll(): Promise<{ readonly objects: Map<string, Kind>; readonly resourceVersion: string }> {
    const { port, pageSize: limit = PAGE_SIZE } = this.#settings;
    const objects = new Map<string, Kind>();
    let continueToken: string | undefined;
    let resourceVersion = '';
    do {
      const page = await port.list({ limit, ...(continueToken !== undefined && { continueToken }) });
      for (const object of page.items) objects.set(keyOf(object), object);
      resourceVersion = page.resourceVersion;
      continueToken = page.continueToken || undefined;
    } while (continueToken !== undefined && !this.#stopped);
    return { objects, resourceVersion };
  }

  #replace(objects: Map<string, Kind>): void {
    const before = this.#objects;
    this.#objects = objects;
    for (const [key, object] of objects) {
      if (!isSame(before.get(key), object)) this.#tell(key);
    }
    for (const key of before.keys()) {
      if (!objects.has(key)) this.#tell(key);
    }
    this.#settings.onListed?.();
    if (this.#synced) return;
    this.#synced = true;
    this.#settings.onSynced?.();
  }

  #watch(): void {
    if (this.#stopped) return;
    const { port, clock } = this.#settings;
    const begunAtMs = clock.nowMs();
    let isOver = false;
    const stop = port.watch(this.#resourceVersion, {
      onEvent: (event) => {
        if (isOver || this.#stopped) return;
        try {
          this.#take(event);
        } catch (error) {
          // Nothing that a server sends ends whoever reads it.
          this.#settings.onError?.(error);
        }
      },
      onEnd: (end) => {
        if (isOver || this.#stopped) return;
        isOver = true;
        this.#callOffSilence();
        this.#follow(end, clock.nowMs() - begunAtMs);
      },
    });
    this.#stopWatch = () => {
      isOver = true;
      stop();
    };
    if (!isOver) this.#expectNews();
  }

  #take(event: WatchEvent<Kind>): void {
    this.#failures = 0;
    this.#expiries = 0;
    this.#expectNews();
    if (event.type === 'bookmark') {
      this.#resourceVersion = event.resourceVersion;
      return;
    }
    const { object } = event;
    const key = keyOf(object);
    this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
    if (event.type === 'deleted') this.#objects.delete(key);
    else this.#objects.set(key, object);
    this.#tell(key);
  }

  #follow(end: WatchEnd, lastedMs: number): void {
    const again = () => this.#watch();
    switch (end.kind) {
      case 'expired':
        // A server that says so to every watch would be listed all the time.
        this.#callOffTimer = this.#settings.clock.after(this.#expiryDelayMs(), () => this.#list());
        return;
      case 'closed':
        // One that is closed as soon as it is opened would be opened all the time.
        if (lastedMs < this.#settings.backOff.firstMs) this.#retry(undefined, again);
        else again();
        return;
      case 'failed':
        this.#retry(end.error, again);
    }
  }

  #expiryDelayMs(): number {
    const expiries = this.#expiries++;
    return expiries === 0 ? 0 : backOffMs(expiries, this.#settings.backOff);
  }

  #retry(error: unknown, again: () => void): void {
    if (this.#stopped) return;
    if (error instanceof ExpiredError) {
      this.#wait(() => this.#list());
      return;
    }
    if (error !== undefined) this.#settings.onError?.(error);
    this.#wait(again, error);
  }

  #wait(then: () => void, error?: unknown): void {
    const { clock, backOff } = this.#settings;
    this.#failures++;
    this.#callOffTimer = clock.after(Math.max(backOffMs(this.#failures, backOff), askedDelayMs(error)), then);
  }

  /** A connection can be dead without anybody knowing. */
  #expectNews(): void {
    const { clock, silenceMs = SILENCE_MS } = this.#settings;
    this.#callOffSilence();
    this.#callOffSilence = clock.after(silenceMs, () => {
      this.#stopWatch();
      this.#watch();
    });
  }

  /** A listener that throws loses its own news, and nobody else's. */
  #tell(key: string): void {
    try {
      this.#settings.onChange(key);
    } catch (error) {
      this.#settings.onError?.(error);
    }
  }
}

function isSame(before: ApiObjectLike | undefined, now: ApiObjectLike): boolean {
  return (
    before !== undefined &&
    before.metadata.uid === now.metadata.uid &&
    before.metadata.resourceVersion === now.metadata.resourceVersion &&
    now.metadata.resourceVersion !== undefined
  );
}
