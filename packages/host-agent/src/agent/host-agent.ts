import { InventoryLoop } from '../inventory/inventory-loop.js';
import { HostObjects } from '../objects/host-objects.js';
import type { HostAgentPorts } from '../ports.js';

/** The hosts of one ClusterAgent, for one term of leadership: a process that leads again begins with a new object. */
export class HostAgent {
  readonly #objects: HostObjects;
  readonly #inventory: InventoryLoop;
  #state: 'new' | 'started' | 'working' | 'stopped' = 'new';

  constructor(ports: HostAgentPorts) {
    this.#objects = new HostObjects(ports, () => this.#inventory.changed());
    this.#inventory = new InventoryLoop(ports, this.#objects, () => undefined);
  }

  /** True once its caches are complete, so that hosts are followed. */
  get isSynced(): boolean {
    return this.#state === 'working';
  }

  /** Begins to follow, to write, to poll and to operate: to be called when this process leads. Once; after `stop` nothing happens. */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    void this.#objects.start().then(() => {
      if (this.#state !== 'started') return;
      this.#state = 'working';
      this.#inventory.begin();
    });
  }

  /** What `leases` returns has changed: to be called after each record. Cheap: changes are gathered for a moment. */
  leasesChanged(): void {
    this.#inventory.changed();
  }

  /**
   * When leadership ends: no action and no poll begins after this call, and no write but the result of an action that is under way, which the fence of the client refuses where
   * another process leads. Resolves when nothing is under way: an action is waited for, for ten seconds.
   */
  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    await this.#inventory.stop();
    this.#objects.stop();
  }
}
