/** Finds why an IPPool may not serve its network. */
import { networkKey } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import type { Explanation } from '../explanation.js';
import { explainMissingPermission, explainNetworkTaken, mayServeNetwork } from './network-permission.js';

export interface NetworkProblem extends Explanation {
  readonly reason: 'network-name-missing' | 'network-not-allowed' | 'network-taken';
}

/** Facts about networks. */
export interface NetworkFacts {
  /** The NetworkAttachmentDefinition; undefined if it does not exist. */
  readonly network: (key: string) => KubernetesObject | undefined;
  /** The IPPool that serves a network; undefined if none does. */
  readonly servingPool: (key: string) => { readonly object: KubernetesObject } | undefined;
}

/** `namespace/name` of the network of an IPPool, or empty if it names none. */
export function networkOfPool({ spec, metadata: { namespace } }: KubernetesObject): string {
  const networkName = readText(spec, 'networkName') ?? '';
  return networkName === '' ? '' : networkKey(networkName, namespace);
}

/** Undefined if the pool may serve its network, and no other one does. */
export function findNetworkProblem(pool: KubernetesObject, facts: NetworkFacts): NetworkProblem | undefined {
  const key = networkOfPool(pool);
  if (key === '') return { reason: 'network-name-missing', ...NO_NAME };
  const network = facts.network(key);
  if (!mayServeNetwork(pool, key, network))
    return { reason: 'network-not-allowed', ...explainMissingPermission(pool, key, network) };
  const serving = facts.servingPool(key)?.object;
  if (serving === undefined || keyOf(serving) === keyOf(pool)) return undefined;
  return { reason: 'network-taken', ...explainNetworkTaken(pool, key, serving) };
}

const NO_NAME: Explanation = {
  message: 'spec.networkName is empty and cannot be changed',
  remedy: 'delete the IPPool, and create it again with the name of a NetworkAttachmentDefinition',
};

/** The problem of a pool whose network does not exist. */
export function explainMissingNetwork(network: string): Explanation {
  return {
    message: `there is no NetworkAttachmentDefinition ${network}`,
    remedy: 'create it, or delete the IPPool and create it again with another spec.networkName',
  };
}
