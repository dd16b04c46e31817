import { parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { clusterAgentOf } from '../check/host-endpoint-problems.js';
import { isInSubnet, readClusterAgent } from '../host/cluster-agent-settings.js';

/** All ClusterAgents and HostEndpoints in the cluster. */
export interface AddressFacts {
  readonly clusterAgents: readonly KubernetesObject[];
  readonly hostEndpoints: readonly KubernetesObject[];
}

/** Says why the agents of a ClusterAgent keep no lease of an address that a person could end; undefined if they may have one. */
export function describeNoLease(
  { address, clusterAgent }: { readonly address: string; readonly clusterAgent: string },
  { clusterAgents, hostEndpoints }: AddressFacts,
): string | undefined {
  const names = clusterAgents.map(({ metadata }) => metadata.name);
  const agent = clusterAgents.find(({ metadata }) => metadata.name === clusterAgent);
  if (agent === undefined) return `there is no lease of ${address} to end: ClusterAgent ${clusterAgent} does not exist`;
  const settings = readClusterAgent(agent);
  // Without a readable subnet, agents serve the previous one.
  if (settings.subnet !== undefined && !isInSubnet(settings, address))
    return `there is no lease of ${address} to end: it is outside the subnet of ClusterAgent ${clusterAgent}`;
  const endpoint = hostEndpoints.find(
    (one) => clusterAgentOf(one, names) === clusterAgent && addressOf(one) === toAddress(address),
  );
  return endpoint === undefined
    ? undefined
    : `there is no lease of ${address} to end: HostEndpoint ${endpoint.metadata.name} has the address, which no client gets; delete the HostEndpoint first`;
}

function addressOf({ spec }: KubernetesObject): number | undefined {
  const text = readField(spec, 'ipAddr');
  return typeof text === 'string' ? toAddress(text) : undefined;
}

function toAddress(text: string): number | undefined {
  return parseIpv4Address(text);
}
