import { BARE_METAL_GROUP, BARE_METAL_VERSION } from '@vmdhcp/ippool-api/bare-metal/keys';
import { type ApiResource, type CacheSubscription, DeletionMarks, formatTime, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { HostAgentPorts } from '../ports.js';
import { isOnlyHealth } from './is-only-health.js';

const PLURALS = ['clusteragents', 'hostendpoints', 'hoststatuses', 'hostoperations'] as const;
export type HostPlural = (typeof PLURALS)[number];

/** The objects of bare-metal hosts as last seen or written: own writes are readable at once. */
export class HostObjects {
  readonly #subscriptions: Readonly<Record<HostPlural, CacheSubscription>>;
  /** Objects that were created here, and are not in a list or watch yet. */
  readonly #created = new Set<string>();
  readonly #deletions = new DeletionMarks();
  /** HostStatus objects at the time of the last change of each that was seen. */
  readonly #before = new Map<string, KubernetesObject>();
  readonly #wallTimeMs: () => number;

  /**
   * @param onChange - called when an object of this kind changed. `isOnlyHealth`: only what polls write changed. Called only
   * after `start`.
   */
  constructor({ caches, observer, wallTimeMs }: HostAgentPorts, onChange: (plural: HostPlural, isOnlyHealth: boolean) => void) {
    this.#wallTimeMs = wallTimeMs;
    const subscribe = (plural: HostPlural): CacheSubscription =>
      caches.subscribe(resourceOf(plural), {
        onChange: (key) => onChange(plural, plural === 'hoststatuses' && this.#noteHost(key)),
        onError: (error) => observer.observe({ kind: 'read-failed', plural, error }),
      });
    this.#subscriptions = {
      clusteragents: subscribe('clusteragents'),
      hostendpoints: subscribe('hostendpoints'),
      hoststatuses: subscribe('hoststatuses'),
      hostoperations: subscribe('hostoperations'),
    };
  }

  /** Follows the cluster; resolves when everything is at least as new as this call, or after `stop`. */
  async start(): Promise<void> {
    const all = Object.values(this.#subscriptions);
    for (const one of all) one.start();
    // Changes from while another process was leader may not have been seen yet.
    await Promise.all(all.map((one) => one.refresh()));
  }

  stop(): void {
    for (const one of Object.values(this.#subscriptions)) one.stop();
  }

  all(plural: Exclude<HostPlural, 'hoststatuses'>): KubernetesObject[] {
    return [...this.#subscriptions[plural].values()];
  }

  /** Includes `deletionTimestamp` if the server has accepted a deletion that was not seen yet. */
  hostStatuses(): KubernetesObject[] {
    const subscription = this.#subscriptions.hoststatuses;
    const objects = new Map([...subscription.values()].map((one) => [one.metadata.name, one]));
    for (const name of this.#created) {
      const object = subscription.get(name);
      if (object === undefined || objects.has(name)) this.#created.delete(name);
      else objects.set(name, object);
    }
    return [...objects.values()].map((one) => this.#deletions.marked('HostStatus', one));
  }

  hostStatus(name: string): KubernetesObject | undefined {
    return this.#subscriptions.hoststatuses.get(name);
  }

  /** Stores the response to a write. */
  wrote(plural: 'hoststatuses' | 'hostoperations', object: KubernetesObject): void {
    this.#subscriptions[plural].wrote(object);
  }

  created(object: KubernetesObject): void {
    this.#created.add(object.metadata.name);
    this.wrote('hoststatuses', object);
  }

  /** Notes that the server has accepted its deletion. */
  deleted(name: string): void {
    const object = this.hostStatus(name);
    if (object !== undefined) this.#deletions.add('HostStatus', object, formatTime(this.#wallTimeMs()));
  }

  /** Resolves when the HostOperations are as new as this call. */
  async refreshOperations(): Promise<void> {
    await this.#subscriptions.hostoperations.refresh();
  }

  /** Notes that a HostStatus changed. @returns whether only what polls write changed. */
  #noteHost(key: string): boolean {
    const [before, now] = [this.#before.get(key), this.hostStatus(key)];
    this.#deletions.seen('HostStatus', key, now);
    if (now === undefined) this.#before.delete(key);
    else this.#before.set(key, now);
    return isOnlyHealth(before, now);
  }
}

function resourceOf(plural: HostPlural): ApiResource {
  return { group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural, namespaced: false };
}
