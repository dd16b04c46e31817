/** Two DHCP servers of one network must not give the same addresses: if two ClusterAgents would, only the older one runs. */

import { compareByAge, readText } from '@vmdhcp/kube-runtime';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import type { HostWorkload } from './read-host-workload.js';
import { networkOf } from './underlay.js';

interface Server {
  readonly workload: HostWorkload;
  readonly network: string;
  /** Without its prefix length. */
  readonly selfIp: string | undefined;
  readonly range: ReturnType<typeof readClusterAgent>['range'];
}

/**
 * By name, why a ClusterAgent may not have agents: an older one has the same addresses on its network. A ClusterAgent that waits
 * for an older one does not block younger ones.
 *
 * @param namespace - the namespace of the agents.
 */
export function findSharedUnderlays(workloads: readonly HostWorkload[], namespace: string): ReadonlyMap<string, string> {
  const serving: Server[] = [];
  const conflicts = new Map<string, string>();
  for (const workload of workloads.toSorted((one, other) => compareByAge(one.object, other.object))) {
    const server = serverOf(workload, namespace);
    if (server === undefined) continue;
    const conflict = serving.map((older) => describeConflict(server, older)).find((text) => text !== undefined);
    if (conflict === undefined) serving.push(server);
    else conflicts.set(workload.name, conflict);
  }
  return conflicts;
}

/** Undefined if it serves no DHCP. */
function serverOf(workload: HostWorkload, namespace: string): Server | undefined {
  const { enableDhcpServer, range } = readClusterAgent(workload.object);
  if (!enableDhcpServer || !workload.isDeployable || workload.replicas === 0) return undefined;
  const selfIp = readText(workload.object.spec, 'feature', 'dhcpServerConfig', 'selfIp')?.split('/', 1)[0] || undefined;
  return { workload, network: networkOf(workload, namespace), selfIp, range };
}

function describeConflict({ network, selfIp, range }: Server, older: Server): string | undefined {
  if (network !== older.network) return undefined;
  const what = [
    ...(selfIp !== undefined && selfIp === older.selfIp ? [`selfIp ${selfIp}`] : []),
    ...(range !== undefined && older.range !== undefined && range.first <= older.range.last && older.range.first <= range.last
      ? ['addresses of ipRange']
      : []),
  ];
  if (what.length === 0) return undefined;
  return `the older ClusterAgent ${older.workload.name} is on the same network (${network}) and has the same ${what.join(' and ')}; change spec.feature.dhcpServerConfig of one of them, or delete one`;
}
