/**
 * Walks from a virtual machine to its addresses, object by object, and says what to read, independently of the reader. A reader
 * of the API server fulfills each batch with requests; the status page fulfills it from caches.
 */
import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL, UNIFIED_GROUP } from '@vmdhcp/ippool-api/agent';
import { readText } from '@vmdhcp/kube-runtime';
import { type ChainObservation, type NetworkPools, type Observed, objectOf, UNREAD } from './chain-observation.js';
import { explainAddress } from './explain-address.js';

/** The kinds on the way, with their names in `Resource`. */
export type ChainKind = 'virtualMachines' | 'virtualMachineInstances' | 'networkConfigs' | 'networks' | 'ipPools' | 'leases';

/** One read: an object by its key `namespace/name`, or the pool that names a network; a pool that serves it comes first. */
export type ChainRead =
  | { readonly kind: ChainKind; readonly key: string }
  | { readonly kind: 'pool-naming'; readonly network: string };

/** Yields batches of reads that do not depend on each other, takes one result for each, and returns the observation. */
export type ChainWalk<Result = ChainObservation> = Generator<readonly ChainRead[], Result, readonly Observed[]>;

/** The virtual machine whose way is walked. */
export interface WalkedMachine {
  readonly namespace: string;
  readonly name: string;
}

/** What time it is, and where the Lease of the controllers is. */
export interface WalkSettings {
  /** The clock of the reader, milliseconds since 1970. */
  readonly nowMs: () => number;
  /** The Lease of the controllers; undefined if it is not read. */
  readonly controllerLease?: string | undefined;
}

/** Walks from a virtual machine to its network configs, networks, pools and the Leases of their agents. Never throws. */
export function* walkChain({ namespace, name }: WalkedMachine, { nowMs, controllerLease }: WalkSettings): ChainWalk {
  const key = `${namespace}/${name}`;
  const [virtualMachine = UNREAD, instance = UNREAD, networkConfig = UNREAD, controller = UNREAD] = yield [
    { kind: 'virtualMachines', key },
    { kind: 'virtualMachineInstances', key },
    { kind: 'networkConfigs', key },
    ...(controllerLease === undefined ? [] : [{ kind: 'leases', key: controllerLease } as const]),
  ];
  const nothing = { networks: new Map(), pools: new Map(), leases: new Map(), events: [] };
  const begun = { namespace, name, virtualMachine, instance, networkConfig, controller, ...nothing, nowMs: nowMs() };
  const named = new Set(explainAddress(begun).interfaces.flatMap(({ network }) => (network === '' ? [] : [network])));
  const networks = yield* readAll([...named], (network) => ({ kind: 'networks', key: network }));
  const pools = yield* readPools(networks);
  const wanted = new Set([...pools.values()].flatMap(({ lease }) => lease ?? []));
  return { ...begun, networks, pools, leases: yield* readLeases([...wanted]), nowMs: nowMs() };
}

/** The controller writes the name of the pool into the network; without it, look for pools that name the network. */
function* readPools(networks: ReadonlyMap<string, Observed>): ChainWalk<ReadonlyMap<string, NetworkPools>> {
  const labelled = new Map([...networks].flatMap(([network, one]) => pairOf(network, poolKeyOf(one))));
  const found = yield* readAll([...labelled.keys()], (network) => ({ kind: 'ipPools', key: labelled.get(network) ?? '' }));
  const known = new Map([...found].filter(([, { kind }]) => kind === 'found' || kind === 'refused'));
  const others = [...networks.keys()].filter((network) => !known.has(network));
  const naming = yield* readAll(others, (network) => ({ kind: 'pool-naming', network }));
  return new Map(
    [...networks.keys()].map((network) => [network, withLease(known.get(network) ?? naming.get(network) ?? UNREAD)]),
  );
}

function pairOf(network: string, key: string | undefined): readonly (readonly [string, string])[] {
  return key === undefined ? [] : [[network, key]];
}

function poolKeyOf(network: Observed): string | undefined {
  const { labels = {} } = objectOf(network)?.metadata ?? {};
  const [namespace, name] = [labels[IPPOOL_NAMESPACE_LABEL], labels[IPPOOL_NAME_LABEL]];
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}

function withLease(pool: Observed): NetworkPools {
  const status = objectOf(pool)?.status;
  const [namespace, name] = ['namespace', 'name'].map((field) => readText(status, 'agentDeploymentRef', field));
  return { pool, lease: namespace === undefined || name === undefined ? undefined : `${namespace}/${name}` };
}

/** The Lease of a group has the name of its Deployment, except for the Deployment of a chart. */
function* readLeases(keys: readonly string[]): ChainWalk<ReadonlyMap<string, Observed>> {
  const own = yield* readAll(keys, (key) => ({ kind: 'leases', key }));
  const missing = [...own].flatMap(([key, { kind }]) => (kind === 'missing' ? [key] : []));
  const ofChart = yield* readAll(missing, (key) => ({ kind: 'leases', key: `${key.split('/', 1)[0]}/${UNIFIED_GROUP}` }));
  return new Map([...own, ...ofChart]);
}

/** One batch; none if there is nothing to read. */
function* readAll(keys: readonly string[], toRead: (key: string) => ChainRead): ChainWalk<ReadonlyMap<string, Observed>> {
  if (keys.length === 0) return new Map();
  const answers = yield keys.map(toRead);
  return new Map(keys.map((key, index) => [key, answers[index] ?? UNREAD]));
}
