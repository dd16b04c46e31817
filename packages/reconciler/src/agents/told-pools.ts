/** What the template of an agents' Deployment tells them. */
import { isRecord, type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';

import { AGENT_NETWORK_CONFIGS_VARIABLE, type PoolForAgents } from './agent-network-config.js';

/** The pools that these agents are told to serve, by key; none where nothing of it can be read. */
export function toldPools(deployment: KubernetesObject, container: string): Map<string, PoolForAgents> {
  const text = readList(findContainer(deployment, container), 'env').flatMap((entry) =>
    readText(entry, 'name') === AGENT_NETWORK_CONFIGS_VARIABLE ? (readText(entry, 'value') ?? []) : [],
  )[0];
  try {
    const entries: unknown = JSON.parse(text ?? '[]');
    return new Map(Array.isArray(entries) ? entries.flatMap(readEntry) : []);
  } catch {
    return new Map();
  }
}

function readEntry(entry: unknown): [string, PoolForAgents][] {
  const key = readText(entry, 'ipPoolRef');
  if (key === undefined) return [];
  const text = (name: string) => readText(entry, name) ?? '';
  return [[key, { key, network: text('nadName'), serverIP: text('serverIP'), cidr: text('cidr') }]];
}

/** True if agents are told of the pool as it is. */
export function isTold(told: PoolForAgents | undefined, pool: PoolForAgents): boolean {
  if (told === undefined) return false;
  return told.network === pool.network && told.serverIP === pool.serverIP && told.cidr === pool.cidr;
}

export function containersOf(deployment: KubernetesObject): readonly unknown[] {
  return readList(deployment.spec, 'template', 'spec', 'containers');
}

export function findContainer(deployment: KubernetesObject, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = containersOf(deployment).find((one) => readText(one, 'name') === name);
  return isRecord(found) ? found : undefined;
}
