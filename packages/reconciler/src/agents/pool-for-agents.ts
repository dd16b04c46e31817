/** The configuration of a pool for agents. */
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api';
import { compareText } from '@vmdhcp/kube-runtime';
import { agentInterfaceName } from './interface-name.js';

/** A pool that agents should serve. */
export interface PoolForAgents {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly network: string;
  readonly serverIP: string;
  readonly cidr: string;
}

/** The configuration of agents that serve these pools, sorted by pool. */
export function toAgentNetworkConfigs(pools: readonly PoolForAgents[]): AgentNetworkConfig[] {
  return pools
    .toSorted((one, other) => compareText(one.key, other.key))
    .map(({ key, network, serverIP, cidr }) => ({
      interfaceName: agentInterfaceName(key),
      serverIP,
      cidr,
      ipPoolName: key,
      ipPoolRef: key,
      nadName: network,
    }));
}

/** The value of the annotation that Multus reads: `namespace/name@interface` of each network, with commas between them. */
export function toMultusNetworks(configs: readonly AgentNetworkConfig[]): string {
  return configs.map(({ nadName, interfaceName }) => `${nadName}@${interfaceName}`).join(',');
}
