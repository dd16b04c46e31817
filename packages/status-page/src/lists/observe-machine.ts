/** Reads from caches what `kubectl vmdhcp why` reads about a virtual machine from the API server. */

import { type ChainObservation, explainAddress, type NetworkPools, type Observed, UNREAD } from '@vmdhcp/explain';
import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL, UNIFIED_GROUP } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { Objects } from './machine-names.js';

/** The caches of the objects on the way to an address. */
export interface ChainCaches {
  readonly virtualMachines: Objects;
  readonly instances: Objects;
  readonly networkConfigs: Objects;
  readonly networks: Objects;
  readonly pools: Objects;
  /** Leases of agents. */
  readonly leases: Objects;
}

/** @param poolsByNetwork - of `poolsByNetwork`. */
export function observeMachine(
  caches: ChainCaches,
  key: string,
  { poolsByNetwork, nowMs }: { readonly poolsByNetwork: ReadonlyMap<string, KubernetesObject>; readonly nowMs: number },
): ChainObservation {
  const [namespace = '', name = ''] = key.split('/', 2);
  const begun: ChainObservation = {
    namespace,
    name,
    virtualMachine: observed(caches.virtualMachines, key),
    instance: observed(caches.instances, key),
    networkConfig: observed(caches.networkConfigs, key),
    networks: new Map(),
    pools: new Map(),
    leases: new Map(),
    controller: UNREAD,
    events: [],
    nowMs,
  };
  const named = new Set(explainAddress(begun).interfaces.flatMap(({ network }) => (network === '' ? [] : [network])));
  const networks = new Map([...named].map((network) => [network, observed(caches.networks, network)] as const));
  const pools = new Map(
    [...networks].map(([network, one]) => [network, poolsOf(caches, one, poolsByNetwork.get(network))] as const),
  );
  const wanted = new Set([...pools.values()].flatMap(({ lease }) => lease ?? []));
  const leases = new Map([...wanted].map((lease) => [lease, leaseAt(caches, lease)] as const));
  return { ...begun, networks, pools, leases };
}

/** A kind that is not listed yet, or cannot be listed, is unknown. */
function observed({ synced, get }: Objects, key: string): Observed {
  const object = get(key);
  if (object !== undefined) return { kind: 'found', object };
  return synced ? { kind: 'missing' } : UNREAD;
}

function poolsOf({ pools }: ChainCaches, network: Observed, naming: KubernetesObject | undefined): NetworkPools {
  const { labels = {} } = network.kind === 'found' ? network.object.metadata : {};
  const labelled = pools.get(`${labels[IPPOOL_NAMESPACE_LABEL]}/${labels[IPPOOL_NAME_LABEL]}`);
  const pool = labelled ?? naming;
  if (pool === undefined) return { pool: pools.synced ? { kind: 'missing' } : UNREAD, lease: undefined };
  const [namespace, name] = ['namespace', 'name'].map((field) => readText(pool.status, 'agentDeploymentRef', field));
  const lease = namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
  return { pool: { kind: 'found', object: pool }, lease };
}

/** A group's Lease has the name of its Deployment, except for the Deployment of a chart. */
function leaseAt({ leases }: ChainCaches, key: string): Observed {
  const [namespace = ''] = key.split('/', 1);
  const own = observed(leases, key);
  return own.kind === 'missing' ? observed(leases, `${namespace}/${UNIFIED_GROUP}`) : own;
}
