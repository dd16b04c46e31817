import { Resource } from '@vmdhcp/ippool-api/resources';
import type { CacheSubscription, KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { ClusterFacts, type ClusterNetworks, type FactKind } from '@vmdhcp/reconciler';

/** The objects that the rules ask for. */
export interface ClusterFactsSource {
  readonly facts: ClusterFacts;
  /** Every cache is complete. */
  readonly synced: () => boolean;
  readonly start: () => void;
  readonly stop: () => void;
  /** Resolves when networks, pools and configs are as new as this call, or after the time in which an API server should respond. */
  readonly refresh: () => Promise<void>;
}

const KINDS: readonly FactKind[] = ['ipPools', 'networks', 'networkConfigs', 'virtualMachines'];
/** There are many virtual machines, and they are seldom the reason for a refusal. */
const REFRESHED: readonly FactKind[] = ['ipPools', 'networks', 'networkConfigs'];
/** The API server waits five seconds for the response. */
const REFRESH_MS = 3_000;
/** Many refused requests must not cause many lists. */
const REFRESH_INTERVAL_MS = 1_000;

/** Answers the queries of the rules from caches. */
export function createClusterFactsSource(
  caches: Pick<SharedCaches, 'subscribe'>,
  networks: ClusterNetworks,
  onReadError: (kind: FactKind, error: unknown) => void,
): ClusterFactsSource {
  const subscribe = (kind: FactKind): CacheSubscription<KubernetesObject> =>
    caches.subscribe(Resource[kind], {
      onChange: (key) => facts.note(kind, key),
      onError: (error) => onReadError(kind, error),
    });
  const sources = Object.fromEntries(KINDS.map((kind) => [kind, subscribe(kind)])) as Record<FactKind, CacheSubscription>;
  const facts = new ClusterFacts(sources, networks);
  const all = Object.values(sources);
  return {
    facts,
    synced: () => all.every(({ synced }) => synced),
    start: () => {
      for (const source of all) source.start();
    },
    stop: () => {
      for (const source of all) source.stop();
    },
    refresh: atMostEvery(REFRESH_INTERVAL_MS, async () => {
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, REFRESH_MS);
      await Promise.race([Promise.all(REFRESHED.map(async (kind) => await sources[kind].refresh())), limit.promise]);
      clearTimeout(timer);
    }),
  };
}

/** Calls wait for the next run, which begins after them; runs have a minimum distance. */
function atMostEvery(intervalMs: number, run: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | undefined;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  const runLater = async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begunAtMs + intervalMs - performance.now())));
    next = undefined;
    begunAtMs = performance.now();
    await run();
  };
  return () => {
    next ??= runLater();
    return next;
  };
}
