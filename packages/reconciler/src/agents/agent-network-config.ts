/** What the controller tells the agents in the environment of their pods, and how they read it. */
import { compareText, quote, readText } from '@vmdhcp/kube-runtime';

import { agentInterfaceName } from './interface-name.js';

/** In the agents' environment: JSON, an array of `AgentNetworkConfig`. */
export const AGENT_NETWORK_CONFIGS_VARIABLE = 'AGENT_NETWORK_CONFIGS';
/** In the agents' environment: JSON, an array of `namespace/name` of IPPools. */
export const IPPOOL_REFS_VARIABLE = 'IPPOOL_REFS_JSON';

/** In the agents' environment: the name of their Lease. */
export const AGENT_LEASE_VARIABLE = 'AGENT_LEASE_NAME';

/** In the agents' environment: `true` for agents that serve nothing. */
export const AGENT_DRY_RUN_VARIABLE = 'VM_DHCP_AGENT_DRY_RUN';

/** A pool that agents are to serve. */
export interface PoolForAgents {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly network: string;
  readonly serverIP: string;
  readonly cidr: string;
}

/** One pool, and the interface of the pod that leads to its network. */
export interface AgentNetworkConfig {
  readonly interfaceName: string;
  readonly serverIP: string;
  readonly cidr: string;
  /** `namespace/name` of the IPPool. */
  readonly ipPoolName: string;
  readonly ipPoolRef: string;
  /** `namespace/name` of the NetworkAttachmentDefinition. */
  readonly nadName: string;
}

/** What the agents shall be told, sorted by pool. */
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

/** What Multus is told: `namespace/name@interface` of each network, with commas between them. */
export function toMultusNetworks(configs: readonly AgentNetworkConfig[]): string {
  return configs.map(({ nadName, interfaceName }) => `${nadName}@${interfaceName}`).join(',');
}

export type ParsedAgentNetworkConfigs =
  | {
      readonly ok: true;
      readonly configs: readonly AgentNetworkConfig[];
      /** Entries that are left out, for people. */
      readonly problems: readonly string[];
    }
  | { readonly ok: false /** For people. */; readonly problem: string };

/** The networks that an agent is to serve. Nothing at all is an empty list, as before the controller has said anything. */
export function parseAgentNetworkConfigs(text: string | undefined): ParsedAgentNetworkConfigs {
  if (text === undefined || text.trim() === '') return { ok: true, configs: [], problems: [] };
  const entries = parseArray(text);
  if (entries === undefined) {
    return {
      ok: false,
      problem: `${AGENT_NETWORK_CONFIGS_VARIABLE} is no JSON array; the controller writes it, so look who else does`,
    };
  }
  const configs: AgentNetworkConfig[] = [];
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const read = readEntry(entry, configs);
    if (typeof read === 'string') problems.push(`${AGENT_NETWORK_CONFIGS_VARIABLE}[${index}] is left out: ${read}`);
    else configs.push(read);
  }
  return { ok: true, configs, problems };
}

/** The config, or what is wrong with it. */
function readEntry(entry: unknown, before: readonly AgentNetworkConfig[]): AgentNetworkConfig | string {
  const text = (name: string) => readText(entry, name) ?? '';
  const ipPoolRef = text('ipPoolRef') || text('ipPoolName');
  const interfaceName = text('interfaceName');
  if (!/^[^/\s]+\/[^/\s]+$/.test(ipPoolRef)) return 'it names no ipPoolRef (namespace/name)';
  if (!/^[A-Za-z0-9._-]{1,15}$/.test(interfaceName)) return `${quote(interfaceName)} is no name of an interface`;
  if (before.some((other) => other.ipPoolRef === ipPoolRef)) return `${ipPoolRef} has an interface already`;
  const other = before.find((one) => one.interfaceName === interfaceName);
  if (other !== undefined) return `${interfaceName} serves ${other.ipPoolRef} already`;
  const [serverIP, cidr, nadName] = [text('serverIP'), text('cidr'), text('nadName')];
  return { interfaceName, serverIP, cidr, ipPoolName: ipPoolRef, ipPoolRef, nadName };
}

function parseArray(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
