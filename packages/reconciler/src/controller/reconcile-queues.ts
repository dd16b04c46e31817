/** The queues of keys to reconcile, by kind. */
import { type Clock, CONFLICT, KeyedQueue, type ReconcileResult } from '@vmdhcp/kube-runtime';
import { byKind } from './by-kind.js';
import type { ControllerObserver, ReconciledKind } from './controller-observer.js';

const CONCURRENCY: Readonly<Record<ReconciledKind, number>> = {
  virtualMachines: 16,
  networkConfigs: 16,
  ipPools: 8,
  networks: 4,
  agentGroups: 1,
};
/** Mostly for conflicts: the newer version arrives a moment later. */
const FIRST_RETRY_MS = 20;
const MOST_RETRY_MS = 30_000;
/** A pool with many claims is written less often, with more changes at a time, so that half of the time is left for everything else. */
const MOST_REST_MS = 1_000;

export interface ReconcileQueuesSettings {
  readonly clock: Clock;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  readonly observer?: ControllerObserver | undefined;
  readonly reconcilers: Readonly<Record<ReconciledKind, (key: string) => Promise<ReconcileResult>>>;
}

export class ReconcileQueues {
  readonly #queues: Readonly<Record<ReconciledKind, KeyedQueue>>;

  constructor(settings: ReconcileQueuesSettings) {
    const create = (kind: ReconciledKind) => createQueue(kind, settings);
    this.#queues = { ...byKind(create), agentGroups: create('agentGroups') };
  }

  add(kind: ReconciledKind, key: string): void {
    this.#queues[kind].add(key);
  }

  /** @param delayMs - changes within this time are reconciled once. */
  addAfter(kind: ReconciledKind, key: string, delayMs: number): void {
    this.#queues[kind].addAfter(key, delayMs);
  }

  forget(kind: ReconciledKind, key: string): void {
    this.#queues[kind].forget(key);
  }

  /** The number of waiting keys. */
  depths(): Readonly<Record<ReconciledKind, number>> {
    return this.#each(({ depth }) => depth);
  }

  /** How long the oldest waiting key has waited, in milliseconds; 0 if none waits. */
  oldestWaitsMs(): Readonly<Record<ReconciledKind, number>> {
    return this.#each((queue) => queue.oldestWaitMs());
  }

  /** Resolves when no reconcile is in progress. */
  async stop(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.stop()));
  }

  #each(read: (queue: KeyedQueue) => number): Record<ReconciledKind, number> {
    return { ...byKind((kind) => read(this.#queues[kind])), agentGroups: read(this.#queues.agentGroups) };
  }
}

function createQueue(kind: ReconciledKind, { clock, random, observer, reconcilers }: ReconcileQueuesSettings): KeyedQueue {
  const reconcile = reconcilers[kind];
  return new KeyedQueue({
    clock,
    backOff: { firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS, random },
    concurrency: CONCURRENCY[kind],
    ...(kind === 'ipPools' && { restMs: (tookMs) => Math.min(tookMs, MOST_REST_MS) }),
    reconcile: (key) => reconcile(key),
    onReconciled: (key, { result, durationMs }) => observer?.onReconciled?.({ kind, key, result, durationMs }),
    onRetry: (key, cause) => {
      if (cause.reason !== CONFLICT) observer?.onRetry?.(kind, key, cause);
    },
    onTerminal: (key, reason) => observer?.onTerminal?.(kind, key, reason),
  });
}
