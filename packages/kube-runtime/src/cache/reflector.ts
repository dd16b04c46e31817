/**
 * Keeps a copy of all objects of one kind, by list and watch, whatever happens to the connection:
 *
 * - a list in pages, begun anew when the server forgets it; it replaces the copy at once, and what is gone since the last list is
 *   reported as deleted;
 * - a watch from there, resumed where it ended, and a new list when the server has forgotten that;
 * - failures are retried forever, with a longer wait each time; a watch without a sign of life is replaced;
 * - a new list when watches are refused, or bring nothing for long. After etcd was restored from a backup, the
 *   versions of before are in the future: a watch from one of them is refused, or silent until that version is reached again;
 * - `synced` is true only after a complete list.
 *
 * Listeners receive keys: they look at the copy when they get round to it.
 */

import { ExpiredError, type ResourcePort, type WatchEnd, type WatchEvent } from '../api/resource-port.js';
import { askedDelayMs, type BackOffSettings, backOffMs } from '../clock/back-off.js';
import type { Clock } from '../clock/clock.js';
import { type ApiObjectLike, keyOf } from '../object/api-object.js';
import { readField } from '../object/read-field.js';

/** What is listed and watched, and who is told of it. */
export interface ReflectorSettings<Kind extends ApiObjectLike> {
  readonly port: ResourcePort<Kind>;
  readonly clock: Clock;
  readonly backOff: BackOffSettings;
  /** The object was added, changed or deleted. */
  readonly onChange: (key: string) => void;
  /** The first complete list is in the copy, and every key of it was reported. */
  readonly onSynced?: () => void;
  /** The copy is a whole list again, as of `resourceVersion`. */
  readonly onListed?: () => void;
  /** Returns this version of the object if it is already known: that one is kept, so that derived data stay valid. Default: none. */
  readonly known?: (object: Kind) => Kind | undefined;
  /** Something failed and will be retried, or another callback threw. Errors that this callback throws are lost. */
  readonly onError?: (error: unknown) => void;
  /** Objects in a page; default 500. */
  readonly pageSize?: number;
  /** A watch without an event or bookmark for this long is considered dead; default three minutes: a server sends a bookmark every minute. */
  readonly silenceMs?: number;
}

const PAGE_SIZE = 500;
const SILENCE_MS = 180_000;
/** A watch that is closed within this time, before it brought anything, may never bring anything. */
const QUICK_CLOSE_MS = 1_000;
/** Silence that causes a list, in units of `silenceMs`: half of `first` up to `first`, then doubled after each list up to `most`. */
const SILENT_WATCHES = { first: 4, most: 20 };

export class Reflector<Kind extends ApiObjectLike> {
  readonly #settings: ReflectorSettings<Kind>;
  #objects = new Map<string, Kind>();
  #synced = false;
  #stopped = false;
  #failures = 0;
  /** Watches in a row that brought nothing: expired, or closed soon. */
  #barren = 0;
  /** True if the watch has brought something. */
  #isHeard = false;
  #lastHeardMs: number | undefined;
  #lastListMs = 0;
  /** Lists in a row that were made because watches brought nothing. */
  #vainLists = 0;
  #resourceVersion = '';
  /** The number of lists begun: the answer to an earlier list is ignored. */
  #round = 0;
  /** Callbacks that wait for the next list, and for the current one. */
  readonly #asking: (() => void)[] = [];
  readonly #served: (() => void)[] = [];
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

  /** The number of lists begun. */
  get round(): number {
    return this.#round;
  }

  /** Everything up to here has been seen; empty before the first list. */
  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  /** How long ago the server was last heard from, by a list, an event or a bookmark; undefined if never. */
  get silentMs(): number | undefined {
    return this.#lastHeardMs === undefined ? undefined : this.#settings.clock.nowMs() - this.#lastHeardMs;
  }

  /** How many objects there are. */
  get size(): number {
    return this.#objects.size;
  }

  /** All objects, in no particular order. */
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

  /**
   * Lists everything anew. `onDone` is called when the copy is at least as new as this call, or when the reflector is stopped. The current list
   * finishes first; otherwise a caller that refreshes faster than lists end would never be served.
   */
  relist(onDone: () => void = () => undefined): void {
    if (this.#stopped) {
      onDone();
      return;
    }
    this.#asking.push(onDone);
    if (this.#served.length > 0) return;
    this.#stopWatch();
    this.#callOffTimer();
    this.#callOffSilence();
    this.#list();
  }

  /** Stops reporting; the copy stays as it is. */
  stop(): void {
    this.#stopped = true;
    for (const done of [...this.#served.splice(0), ...this.#asking.splice(0)]) done();
    this.#stopWatch();
    this.#callOffTimer();
    this.#callOffSilence();
  }

  #list(): void {
    const round = ++this.#round;
    this.#served.push(...this.#asking.splice(0));
    // Always settles: failures are retried.
    void this.#listAll().then(
      ({ objects, resourceVersion }) => {
        if (this.#stopped || round !== this.#round) return;
        this.#failures = 0;
        this.#resourceVersion = resourceVersion;
        this.#lastListMs = this.#lastHeardMs = this.#settings.clock.nowMs();
        this.#replace(objects);
        for (const done of this.#served.splice(0)) done();
        if (this.#asking.length > 0) this.#list();
        else this.#watch();
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
    const changed: string[] = [];
    for (const [key, object] of objects) {
      const known = before.get(key);
      // Keep the same object, not an equal one, so that derived data stay valid.
      if (known !== undefined && isSameVersion(known, object)) objects.set(key, known);
      else changed.push(key);
    }
    for (const key of changed) this.#report(key);
    for (const key of before.keys()) {
      if (!objects.has(key)) this.#report(key);
    }
    this.#tell(() => this.#settings.onListed?.());
    if (this.#synced) return;
    this.#synced = true;
    this.#tell(() => this.#settings.onSynced?.());
  }

  #watch(): void {
    if (this.#stopped) return;
    const { port, clock } = this.#settings;
    const begunAtMs = clock.nowMs();
    let isOver = false;
    this.#isHeard = false;
    const stop = port.watch(this.#resourceVersion, {
      onEvent: (event) => {
        if (isOver || this.#stopped) return;
        try {
          this.#take(event);
        } catch (error) {
          // Nothing that a server sends may end the loop that reads it.
          this.#fail(error);
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
    this.#barren = 0;
    this.#vainLists = 0;
    this.#isHeard = true;
    this.#lastHeardMs = this.#settings.clock.nowMs();
    this.#expectNews();
    if (event.type === 'bookmark') {
      this.#resourceVersion = event.resourceVersion;
      return;
    }
    const { object } = event;
    const key = keyOf(object);
    this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
    if (event.type === 'deleted') this.#objects.delete(key);
    else this.#objects.set(key, this.#settings.known?.(object) ?? object);
    this.#report(key);
  }

  #follow(end: WatchEnd, lastedMs: number): void {
    switch (end.kind) {
      case 'expired':
        // Otherwise a server that answers every watch like this would be listed all the time.
        this.#after(this.#barren === 0 ? 0 : this.#barrenDelayMs(), () => this.#list());
        this.#barren++;
        return;
      case 'closed':
        this.#followClose(lastedMs);
        return;
      case 'failed':
        this.#retry(end.error, () => this.#resume(isRefusal(end.error)));
    }
  }

  /**
   * Watches from where the last watch ended, or lists if such a watch may never bring anything. Lists of many objects cost much. A healthy server
   * sends a bookmark every minute, so that objects which do not change are not listed again; from a server without bookmarks, or one that
   * refuses every watch, they are, ever more rarely. A first refusal causes a list without delay, but one per `silenceMs` at most.
   */
  #resume(isRefused = false): void {
    const { clock, backOff, silenceMs = SILENCE_MS } = this.#settings;
    const { first, most } = SILENT_WATCHES;
    const patience = { ...backOff, firstMs: first * silenceMs, mostMs: most * silenceMs };
    const isFirstRefusal = isRefused && this.#vainLists === 0 && clock.nowMs() - this.#lastListMs >= silenceMs;
    if (isFirstRefusal || (this.silentMs ?? 0) >= backOffMs(this.#vainLists + 1, patience)) {
      this.#vainLists++;
      this.#list();
    } else this.#watch();
  }

  /** Watches are closed after some minutes. A watch that is closed early, again and again, must cause neither constant watches nor constant lists. */
  #followClose(lastedMs: number): void {
    const { backOff } = this.#settings;
    const again = () => this.#resume();
    const isBarren = !this.#isHeard && lastedMs < QUICK_CLOSE_MS;
    this.#barren = isBarren ? this.#barren + 1 : 0;
    if (isBarren && this.#barren % 2 === 0) this.#after(this.#barrenDelayMs(), () => this.#list());
    else if (isBarren && lastedMs < backOff.firstMs) this.#after(this.#barrenDelayMs(), again);
    else if (lastedMs < backOff.firstMs) this.#retry(undefined, again);
    else again();
  }

  #barrenDelayMs(): number {
    return backOffMs(this.#barren, this.#settings.backOff);
  }

  #after(delayMs: number, then: () => void): void {
    this.#callOffTimer = this.#settings.clock.after(delayMs, then);
  }

  #retry(error: unknown, again: () => void): void {
    if (this.#stopped) return;
    if (error instanceof ExpiredError) {
      // A single failure is not worth reporting.
      if (this.#failures > 0) this.#fail(error);
      this.#wait(() => this.#list());
      return;
    }
    if (error !== undefined) this.#fail(error);
    this.#wait(again, error);
  }

  #wait(then: () => void, error?: unknown): void {
    const { clock, backOff } = this.#settings;
    this.#failures++;
    this.#callOffTimer = clock.after(Math.max(backOffMs(this.#failures, backOff), askedDelayMs(error)), then);
  }

  /** A connection can die unnoticed. */
  #expectNews(): void {
    const { clock, silenceMs = SILENCE_MS } = this.#settings;
    this.#callOffSilence();
    this.#callOffSilence = clock.after(silenceMs, () => {
      this.#stopWatch();
      this.#resume();
    });
  }

  #report(key: string): void {
    this.#tell(() => this.#settings.onChange(key));
  }

  /** A listener that throws loses only its own notification. */
  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    try {
      this.#settings.onError?.(error);
    } catch {
      // There is no other place to report it.
    }
  }
}

/** True if the server answered a watch with an error status. One that is busy gets no list in addition. */
function isRefusal(error: unknown): boolean {
  const status = readField(error, 'status');
  return typeof status === 'number' && status !== 429;
}

/** True if both are the same version of the same object. */
export function isSameVersion(before: ApiObjectLike, now: ApiObjectLike): boolean {
  return (
    before.metadata.uid === now.metadata.uid &&
    before.metadata.resourceVersion === now.metadata.resourceVersion &&
    now.metadata.resourceVersion !== undefined
  );
}
