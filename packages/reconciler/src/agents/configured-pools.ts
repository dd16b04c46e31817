/** The pools that the pod template of an agents' Deployment configures them to serve. */
import { AGENT_NETWORK_CONFIGS_VARIABLE } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';

import type { PoolForAgents } from './pool-for-agents.js';

/** The configured pools, by key; empty if the configuration cannot be read. */
export function configuredPools(deployment: KubernetesObject, container: string): Map<string, PoolForAgents> {
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

/** True if the pool's configuration is up to date. */
export function isConfigured(configured: PoolForAgents | undefined, pool: PoolForAgents): boolean {
  if (configured === undefined) return false;
  return configured.network === pool.network && configured.serverIP === pool.serverIP && configured.cidr === pool.cidr;
}

export function containersOf(deployment: KubernetesObject): readonly unknown[] {
  return readList(deployment.spec, 'template', 'spec', 'containers');
}

export function findContainer(deployment: KubernetesObject, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = containersOf(deployment).find((one) => readText(one, 'name') === name);
  return isRecord(found) ? found : undefined;
}
