import { HostPolls } from './health/host-polls.js';
import type { FollowedHost } from './inventory/host-targets.js';
import { InventoryLoop } from './inventory/inventory-loop.js';
import { HostObjects, type HostPlural } from './objects/host-objects.js';
import { HostOperations } from './operation/host-operations.js';
import type { HostAgentPorts } from './ports.js';
import { HostSecrets } from './secret/host-secrets.js';

/** The hosts of one ClusterAgent, for one term of leadership: a process that becomes leader again creates a new object. */
export class HostAgent {
  readonly #ports: HostAgentPorts;
  readonly #objects: HostObjects;
  readonly #inventory: InventoryLoop;
  readonly #secrets: HostSecrets;
  readonly #polls: HostPolls;
  readonly #operations: HostOperations;
  #state: 'new' | 'started' | 'working' | 'stopped' = 'new';
  /** The number of hosts that are followed. */
  #hosts = 0;
  /** Hosts whose management controllers do not answer, and since when. */
  #unhealthySinceMs = new Map<string, number>();
  #counted: string | undefined;

  constructor(ports: HostAgentPorts) {
    this.#ports = ports;
    this.#objects = new HostObjects(ports, (plural, isOnlyHealth) => this.#changed(plural, isOnlyHealth));
    this.#secrets = new HostSecrets(ports, (key) => this.#polls.secretChanged(key));
    this.#polls = new HostPolls({
      ports,
      objects: this.#objects,
      secrets: this.#secrets,
      onHealth: (name, isHealthy) => this.#noteHealth(name, isHealthy),
    });
    this.#operations = new HostOperations(ports, this.#objects, this.#secrets);
    this.#inventory = new InventoryLoop(ports, this.#objects, (hosts) => this.#follow(hosts));
  }

  /** True once its caches are complete, so that hosts are followed. */
  get isSynced(): boolean {
    return this.#state === 'working';
  }

  /**
   * Hosts whose management controllers do not answer, by the names of their HostStatus objects: since when, in milliseconds since
   * 1970. A former leader may have noticed it.
   */
  get unhealthySinceMs(): ReadonlyMap<string, number> {
    return this.#unhealthySinceMs;
  }

  /**
   * Begins to follow, to write, to poll and to operate: call it when this process becomes leader. Only once; after `stop` nothing
   * happens.
   */
  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    void this.#objects.start().then(() => {
      if (this.#state !== 'started') return;
      this.#state = 'working';
      this.#inventory.begin();
    });
  }

  /**
   * Tells the agent that the result of `leases` changed: call it after each record. It is cheap: changes are gathered for a
   * moment.
   */
  leasesChanged(): void {
    this.#inventory.changed();
  }

  /**
   * Call this when leadership ends: afterwards no action and no poll begins, and nothing is written except the result of an
   * action in progress, which the fence of the client refuses if another process is leader. Resolves when nothing is in progress,
   * or after waiting ten seconds for an action.
   */
  async stop(): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopped';
    const operations = this.#operations.stop();
    const others = [this.#inventory.stop(), this.#polls.stop()];
    this.#secrets.stop();
    await Promise.all([operations, ...others]);
    this.#objects.stop();
  }

  #changed(plural: HostPlural, isOnlyHealth: boolean): void {
    if (plural !== 'hostoperations' && !isOnlyHealth) this.#inventory.changed();
    if (plural === 'hostoperations' || plural === 'hoststatuses') this.#operations.changed();
  }

  #follow(hosts: ReadonlyMap<string, FollowedHost>): void {
    if (this.#state !== 'working') return;
    this.#secrets.follow([...hosts.values()].map(({ connection }) => connection));
    this.#polls.follow(hosts);
    this.#operations.follow(hosts);
    this.#hosts = hosts.size;
    this.#unhealthySinceMs = new Map([...hosts.values()].filter(({ isHealthy }) => !isHealthy).map((host) => this.#since(host)));
    this.#count();
  }

  /** The status of a host is written when it becomes unhealthy, and not again. */
  #since({ name, updatedAtMs }: FollowedHost): [name: string, sinceMs: number] {
    const nowMs = this.#ports.wallTimeMs();
    const storedMs = Number.isNaN(updatedAtMs) ? nowMs : Math.min(updatedAtMs, nowMs);
    return [name, this.#unhealthySinceMs.get(name) ?? storedMs];
  }

  #noteHealth(name: string, isHealthy: boolean): void {
    if (isHealthy) this.#unhealthySinceMs.delete(name);
    else if (!this.#unhealthySinceMs.has(name)) this.#unhealthySinceMs.set(name, this.#ports.wallTimeMs());
    this.#count();
  }

  #count(): void {
    const unhealthy = this.#unhealthySinceMs.size;
    const healthy = this.#hosts - unhealthy;
    if (this.#counted === `${healthy} ${unhealthy}`) return;
    this.#counted = `${healthy} ${unhealthy}`;
    this.#ports.observer.observe({ kind: 'hosts', healthy, unhealthy });
  }
}
