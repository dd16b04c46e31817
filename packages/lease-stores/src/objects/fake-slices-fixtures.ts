/**
 * Simulates an API server, its network and time from a seed: responses are lost, writes arrive late, servers are busy, clients
 * die.
 */

import type { Clock, KubernetesObject, ListPage, MergePatch, WriteResult, WriteTarget } from '@vmdhcp/kube-runtime';
import { keyOf } from '@vmdhcp/kube-runtime';
import { applyMergePatch, type Random } from '@vmdhcp/kube-runtime/testing';
import type { LeaseSlicePorts } from './lease-slices.js';

/** Virtual time: all consequences of an event happen before the next event. */
export class World {
  readonly clock: Clock = { nowMs: () => this.#nowMs, after: (delayMs, run) => this.#after(delayMs, run) };
  #nowMs = 0;
  #count = 0;
  #events: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = [];

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#after(delayMs, resolve));
  }

  /** Runs until no event is left, or until this time. */
  async run(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      let next = this.#events[0];
      for (const event of this.#events)
        if (next !== undefined && (event.atMs < next.atMs || (event.atMs === next.atMs && event.order < next.order)))
          next = event;
      if (next === undefined || next.atMs > untilMs) return;
      this.#nowMs = next.atMs;
      this.#events.splice(this.#events.indexOf(next), 1);
      next.run();
    }
  }

  #after(delayMs: number, run: () => void): () => void {
    const event = { atMs: this.#nowMs + delayMs, order: this.#count++, run };
    this.#events.push(event);
    return () => {
      this.#events = this.#events.filter((one) => one !== event);
    };
  }
}

/** The outcome of one request. */
export type Fate = 'answered' | 'not-sent' | 'answer-lost' | 'late' | 'busy' | 'crash-before' | 'crash-after';

const FAILURES: Partial<Record<Fate, string>> = { 'not-sent': 'refused', busy: 'too many requests', late: 'connection reset' };

export interface Client extends LeaseSlicePorts {
  /** The number of requests begun. */
  readonly count: () => number;
}

/** Objects of one kind, with resourceVersions like those of an API server. */
export class FakeSlices {
  readonly objects = new Map<string, KubernetesObject>();
  readonly #world: World;
  readonly #random: Random;
  #version = 0;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** @param fateOf - decides the outcome of each request, by its number from 0. After a crash, no request gets a response. */
  client(fateOf: (request: number, isWrite: boolean) => Fate, onCrash: () => void = () => undefined): Client {
    let count = 0;
    let isDead = false;
    const dead = (): Promise<never> => {
      if (!isDead) onCrash();
      isDead = true;
      return new Promise(() => undefined);
    };
    const request = async <Answer>(act: () => Answer, isWrite: boolean): Promise<Answer> => {
      const fate = isDead ? 'crash-before' : fateOf(count++, isWrite);
      await this.#world.sleep(1 + this.#random(10));
      if (isDead || fate === 'crash-before') return dead();
      if (fate === 'late') void this.#world.sleep(this.#random(20_000)).then(act);
      const failure = FAILURES[fate];
      if (failure !== undefined) throw Object.assign(new Error(failure), { retryAfterMs: 50 });
      const answer = act();
      if (fate === 'answer-lost') throw new Error('connection reset');
      if (fate === 'crash-after') return dead();
      await this.#world.sleep(1 + this.#random(10));
      return isDead ? dead() : answer;
    };
    const list = (reduce: (object: KubernetesObject) => KubernetesObject) => (): Promise<ListPage<KubernetesObject>> =>
      request(() => {
        const items = [...this.objects.values()].filter(({ metadata }) => metadata.labels?.['bmc.spidernet.io/leases-of']);
        return { items: items.map(reduce), resourceVersion: String(this.#version) };
      }, false);
    return {
      count: () => count,
      slices: {
        get: (key) => request(() => this.objects.get(key), false),
        list: list((object) => object),
        create: (object) => request(() => this.#create(object), true),
        patch: (target, patch) => request(() => this.patch(target, patch), true),
        delete: (key, uid) => request(() => this.#delete(key, uid), true),
      },
      versions: { list: list(({ metadata }) => ({ metadata })) },
    };
  }

  /** Changes an object as another client would. */
  patch({ key, resourceVersion }: WriteTarget, patch: MergePatch): WriteResult<KubernetesObject> {
    const stored = this.objects.get(key);
    if (stored === undefined) return { ok: false, reason: 'not-found', message: `${key} not found` };
    if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion)
      return { ok: false, reason: 'conflict', message: `${key} has been modified` };
    const changed = applyMergePatch(stored, patch) as KubernetesObject;
    return { ok: true, object: JSON.stringify(changed) === JSON.stringify(stored) ? stored : this.#store(changed) };
  }

  #create(object: KubernetesObject): WriteResult<KubernetesObject> {
    const key = keyOf(object);
    if (this.objects.has(key)) return { ok: false, reason: 'already-exists', message: `${key} already exists` };
    return { ok: true, object: this.#store({ ...object, metadata: { ...object.metadata, uid: `uid-${this.#version}` } }) };
  }

  #delete(key: string, uid: string): WriteResult<undefined> {
    if (this.objects.get(key)?.metadata.uid !== uid) return { ok: false, reason: 'not-found', message: `${key} not found` };
    this.objects.delete(key);
    return { ok: true, object: undefined };
  }

  #store(object: KubernetesObject): KubernetesObject {
    this.#version++;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    this.objects.set(keyOf(stored), stored);
    return stored;
  }
}
