import { AGENT_NETWORK_CONFIGS_VARIABLE } from '@vmdhcp/ippool-api';
import { octetsOf } from '@vmdhcp/kube-runtime';
import { type PoolForAgents, toAgentNetworkConfigs } from './pool-for-agents.js';

/** The maximum size of one string in a program's environment: 32 pages of 4 KiB. Source: execve(2), MAX_ARG_STRLEN. */
export const MOST_ENVIRONMENT_STRING_OCTETS = 131_072;

/** The maximum octets of the value: the string also contains the name, an equals sign and a zero. */
export const MOST_CONFIG_OCTETS = MOST_ENVIRONMENT_STRING_OCTETS - octetsOf(`${AGENT_NETWORK_CONFIGS_VARIABLE}=\0`);

/** The octets of an entry with empty texts: its field names, and the name of the interface, which always has the same length. */
const EMPTY_ENTRY_OCTETS = octetsOf(JSON.stringify(toAgentNetworkConfigs([{ key: '', network: '', serverIP: '', cidr: '' }])[0]));

/** The pools that fit into the configuration of one group of agents, and those that do not. */
export interface FittingPools<Pool> {
  readonly fitting: readonly Pool[];
  readonly leftOut: readonly Pool[];
}

/**
 * The pools that fit into one environment string of the agents. A pod with a longer one never starts. The other texts that name the
 * pools (their references, the networks for Multus) are shorter than this one.
 *
 * @param pools - in order of precedence.
 */
export function fitAgentConfigs<Pool extends PoolForAgents>(pools: readonly Pool[]): FittingPools<Pool> {
  const [fitting, leftOut]: [Pool[], Pool[]] = [[], []];
  // The brackets; each pool has a comma or the end of the list after it, so that one is too many.
  let octets = 2 - 1;
  for (const pool of pools) {
    const more = octetsOfEntry(pool) + 1;
    if (octets + more > MOST_CONFIG_OCTETS) leftOut.push(pool);
    else {
      fitting.push(pool);
      octets += more;
    }
  }
  return { fitting, leftOut };
}

/** Without the name of the interface, which is expensive to compute. */
function octetsOfEntry({ key, network, serverIP, cidr }: PoolForAgents): number {
  // Brackets, commas and quotation marks: 16 octets besides the texts.
  return EMPTY_ENTRY_OCTETS + octetsOf(JSON.stringify([key, key, network, serverIP, cidr])) - 16;
}
