/** Bare-metal hosts as the page shows them. */
import { type KubernetesObject, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import type { BareMetalHost, HostsAgent, HostsPage } from '../model/page-data.js';
import { sortGraves, toPageConditions, worstState } from '../reason/page-reason.js';
import { conditionGraves } from './list-wake-configs.js';

export interface HostObjects {
  readonly clusterAgents: Iterable<KubernetesObject>;
  readonly hostStatuses: Iterable<KubernetesObject>;
}

export function listHosts({ clusterAgents, hostStatuses }: HostObjects): HostsPage {
  const byName = (one: { readonly name: string }, other: { readonly name: string }) => (one.name < other.name ? -1 : 1);
  return {
    clusterAgents: [...clusterAgents].map(toAgent).toSorted(byName),
    hosts: [...hostStatuses].map(toHost).toSorted(byName),
  };
}

function toAgent({ metadata: { name }, status }: KubernetesObject): HostsAgent {
  const graves = conditionGraves(status);
  return {
    name,
    state: worstState(graves.map(({ state }) => state)),
    reasons: sortGraves(graves),
    conditions: toPageConditions(status),
  };
}

function toHost({ metadata: { name }, status }: KubernetesObject): BareMetalHost {
  const isHealthy = readField(status, 'healthy') ?? readField(status, 'healthReady');
  const count = (field: string) => {
    const value = readField(status, 'log', field);
    return typeof value === 'number' ? value : 0;
  };
  const updatedAtMs = parseTime(readText(status, 'lastUpdateTime'));
  return {
    name,
    clusterAgent: readText(status, 'clusterAgent') ?? '',
    address: readText(status, 'basic', 'ipAddr') ?? '',
    mac: readText(status, 'basic', 'mac') ?? '',
    type: readText(status, 'basic', 'type') ?? '',
    isHealthy: typeof isHealthy === 'boolean' ? isHealthy : null,
    hasLease: readField(status, 'basic', 'activeDhcpClient') === true,
    logEntries: count('totalLogAccount'),
    warnings: count('warningLogAccount'),
    latestWarning: (readText(status, 'log', 'lastestWarningLog', 'message') ?? '').slice(0, 1_024),
    updatedAtMs: Number.isNaN(updatedAtMs) ? null : updatedAtMs,
  };
}
