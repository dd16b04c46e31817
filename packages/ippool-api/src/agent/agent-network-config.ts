/** What the controller writes into the environment of the agents' pods: the pools that they are configured to serve. */
import { quote } from './cut-text.js';
import { fieldsOf, parseJson, textOf } from './read-json.js';

/** In the agents' environment: JSON, an array of `AgentNetworkConfig`. */
export const AGENT_NETWORK_CONFIGS_VARIABLE = 'AGENT_NETWORK_CONFIGS';
/**
 * In the agents' environment: JSON, an array of `namespace/name` of IPPools. It is part of the public design of the agents, which agents of
 * other images read. Ours do not: each entry of `AGENT_NETWORK_CONFIGS` names its IPPool.
 */
export const IPPOOL_REFS_VARIABLE = 'IPPOOL_REFS_JSON';
/** In the agents' environment: the name of their Lease. */
export const AGENT_LEASE_VARIABLE = 'AGENT_LEASE_NAME';
/** The group of all pools; its Lease has this name, which is upstream's, and agents take it where `AGENT_LEASE_NAME` is not set. */
export const UNIFIED_GROUP = 'vm-dhcp-agents';
/** In the agents' environment: `true` if the agents must not serve. */
export const AGENT_DRY_RUN_VARIABLE = 'VM_DHCP_AGENT_DRY_RUN';

/** One pool, and the interface of the pod that leads to its network. */
export interface AgentNetworkConfig {
  readonly interfaceName: string;
  /** An IPv4 address. */
  readonly serverIP: string;
  /** An IPv4 subnet, as in `192.168.48.0/24`. */
  readonly cidr: string;
  /** `namespace/name` of the IPPool. */
  readonly ipPoolName: string;
  readonly ipPoolRef: string;
  /** `namespace/name` of the NetworkAttachmentDefinition. */
  readonly nadName: string;
}

/** The pools and interfaces of an agent, or why its configuration cannot be read. */
export type ParsedAgentNetworkConfigs =
  | {
      readonly ok: true;
      readonly configs: readonly AgentNetworkConfig[];
      /** Entries that are left out, for people. */
      readonly problems: readonly string[];
    }
  | { readonly ok: false /** The problems, for people. */; readonly problem: string };

/** The pools that an agent is configured to serve. No text, or an empty one, is an empty list. Never throws. */
export function parseAgentNetworkConfigs(text: string | undefined): ParsedAgentNetworkConfigs {
  if (text === undefined || text.trim() === '') return { ok: true, configs: [], problems: [] };
  const entries = parseJson(text);
  if (!Array.isArray(entries)) {
    const problem = `${AGENT_NETWORK_CONFIGS_VARIABLE} is not a JSON array; the controller writes it, so find out what else changes the pod template`;
    return { ok: false, problem };
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
  const fields = fieldsOf(entry);
  const text = (name: string) => textOf(fields[name]) ?? '';
  const ipPoolRef = text('ipPoolRef') || text('ipPoolName');
  const interfaceName = text('interfaceName');
  if (!/^[^/\s]+\/[^/\s]+$/.test(ipPoolRef)) return 'it has no ipPoolRef (namespace/name)';
  if (!/^[A-Za-z0-9._-]{1,15}$/.test(interfaceName)) return `${quote(interfaceName)} is not an interface name`;
  if (before.some((other) => other.ipPoolRef === ipPoolRef)) return `${ipPoolRef} has an interface already`;
  const other = before.find((one) => one.interfaceName === interfaceName);
  if (other !== undefined) return `${interfaceName} serves ${other.ipPoolRef} already`;
  return {
    interfaceName,
    serverIP: text('serverIP'),
    cidr: text('cidr'),
    ipPoolName: ipPoolRef,
    ipPoolRef,
    nadName: text('nadName'),
  };
}
