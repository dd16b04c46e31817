/**
 * The lifecycle of a part that follows the cluster from its start, and works only while it leads. It waits until its caches are as new as the
 * leadership, because the former leader may have made writes that a lagging watch has not shown yet.
 */

export interface PartLifecycleSettings {
  /** Begins to follow the cluster. */
  readonly follow: () => void;
  /** Lists everything anew; resolves when what is cached is at least as new as the call. */
  readonly refresh: () => Promise<unknown>;
  /** True once every cache is complete. */
  readonly isSynced: () => boolean;
  /** Called once, when this process leads and everything is listed. */
  readonly onWorking: () => void;
}

type State =
  | 'new'
  /** Caches are followed. */
  | 'following'
  /** Leader; every cache is being listed anew. */
  | 'refreshing'
  /** Leader; some cache is not complete. */
  | 'syncing'
  | 'working'
  | 'stopped';

/** Calls must come in the order of a `ControllerPart`; others have no effect. */
export class PartLifecycle {
  readonly #settings: PartLifecycleSettings;
  #state: State = 'new';

  constructor(settings: PartLifecycleSettings) {
    this.#settings = settings;
  }

  /** True while it leads and everything is listed. Write only then. */
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

  /** Call it when a cache is complete. */
  check(): void {
    if (this.#state !== 'syncing' || !this.#settings.isSynced()) return;
    this.#state = 'working';
    this.#settings.onWorking();
  }

  /** Nothing begins after this. */
  stop(): void {
    this.#state = 'stopped';
  }
}
