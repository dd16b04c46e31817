/**
 * The life of a part that follows the cluster from its start, and works only while it leads: as the cluster is after the leadership began, not as a watch that
 * lags behind has it. A leader before may have written what has not been seen here.
 */

export interface PartLifecycleSettings {
  /** Begins to follow the cluster. */
  readonly follow: () => void;
  /** Lists everything anew; resolves when what is cached is at least as new as the call. */
  readonly refresh: () => Promise<unknown>;
  /** True once every cache is complete. */
  readonly isSynced: () => boolean;
  /** This process leads, and everything is listed: called once. */
  readonly onWorking: () => void;
}

type State =
  | 'new'
  /** Caches are followed. */
  | 'following'
  /** Leader, while every cache is listed anew. */
  | 'refreshing'
  /** Leader, while some cache is not complete. */
  | 'syncing'
  | 'working'
  | 'stopped';

/** Calls come as those of a `ControllerPart` do: others change nothing. */
export class PartLifecycle {
  readonly #settings: PartLifecycleSettings;
  #state: State = 'new';

  constructor(settings: PartLifecycleSettings) {
    this.#settings = settings;
  }

  /** True while it leads and everything is listed: only then is anything written. */
  get isWorking(): boolean {
    return this.#state === 'working';
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'following';
    this.#settings.follow();
  }

  lead(): void {
    this.start();
    if (this.#state !== 'following') return;
    this.#state = 'refreshing';
    void this.#settings.refresh().then(() => {
      if (this.#state !== 'refreshing') return;
      this.#state = 'syncing';
      this.check();
    });
  }

  /** To be called when a cache is complete. */
  check(): void {
    if (this.#state !== 'syncing' || !this.#settings.isSynced()) return;
    this.#state = 'working';
    this.#settings.onWorking();
  }

  /** Nothing begins any more. */
  stop(): void {
    this.#state = 'stopped';
  }
}
