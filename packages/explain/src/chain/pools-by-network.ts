import { compareByAge, type KubernetesObject, readConditions, readText } from '@vmdhcp/kube-runtime';

/**
 * The pool that explains each network, by `namespace/name` of the network. If the network names no pool, this is one that serves
 * it, otherwise one of its own namespace, otherwise the oldest. Any user may create a pool that names the network of another
 * user: a pool that does not serve it explains nothing.
 */
export function poolsByNetwork(pools: Iterable<KubernetesObject>): ReadonlyMap<string, KubernetesObject> {
  const naming = Map.groupBy(pools, networkOf);
  return new Map([...naming].map(([network, found]) => [network, found.reduce((best, pool) => better(best, pool, network))]));
}

function networkOf({ metadata, spec }: KubernetesObject): string {
  const named = readText(spec, 'networkName') ?? '';
  return named.includes('/') ? named : `${metadata.namespace}/${named}`;
}

function better(one: KubernetesObject, other: KubernetesObject, network: string): KubernetesObject {
  const byUse = Number(isUsed(other)) - Number(isUsed(one));
  const byPlace = Number(isNear(other, network)) - Number(isNear(one, network));
  return (byUse || byPlace || compareByAge(one, other)) <= 0 ? one : other;
}

function isUsed({ status }: KubernetesObject): boolean {
  return readConditions(status).some(({ type, status: is }) => type === 'CacheReady' && is === 'True');
}

function isNear({ metadata }: KubernetesObject, network: string): boolean {
  return network.startsWith(`${metadata.namespace}/`);
}
