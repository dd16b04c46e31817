/** What the controller tells the agents in the environment of their pods, and how they read it. */
import { readText } from '../object/read-field.js';

/** In the agents' environment: JSON, an array of `AgentNetworkConfig`. */
export const AGENT_NETWORK_CONFIGS_VARIABLE = 'AGENT_NETWORK_CONFIGS';
/** In the agents' environment: JSON, an array of `namespace/name` of IPPools. */
export const IPPOOL_REFS_VARIABLE = 'IPPOOL_REFS_JSON';

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

export type ParsedAgentNetworkConfigs =
  | { readonly ok: true; readonly configs: readonly AgentNetworkConfig[] }
  | { readonly ok: false /** For people. */; readonly problem: string };

/** The networks that an agent is to serve. Nothing at all is an empty list, as before the controller has said anything. */
export function parseAgentNetworkConfigs(text: string | undefined): ParsedAgentNetworkConfigs {
  if (text === undefined || text.trim() === '') return { ok: true, configs: [] };
  const entries = parseArray(text);
  if (entries === undefined) return refused('is no JSON array; the controller writes it, so look who else does');
  const configs: AgentNetworkConfig[] = [];
  for (const [index, entry] of entries.entries()) {
    const config = readEntry(entry);
    if (config === undefined) return refused(`[${index}] names no interfaceName and ipPoolRef (namespace/name)`);
    if (configs.some(({ ipPoolRef }) => ipPoolRef === config.ipPoolRef)) {
      return refused(`[${index}] names ${config.ipPoolRef} once more`);
    }
    configs.push(config);
  }
  return { ok: true, configs };
}

function readEntry(entry: unknown): AgentNetworkConfig | undefined {
  const text = (name: string) => readText(entry, name) ?? '';
  const ipPoolRef = text('ipPoolRef') || text('ipPoolName');
  const interfaceName = text('interfaceName');
  if (!ipPoolRef.includes('/') || interfaceName === '') return undefined;
  const [serverIP, cidr, nadName] = [text('serverIP'), text('cidr'), text('nadName')];
  return { interfaceName, serverIP, cidr, ipPoolName: ipPoolRef, ipPoolRef, nadName };
}

function refused(problem: string): ParsedAgentNetworkConfigs {
  return { ok: false, problem: `${AGENT_NETWORK_CONFIGS_VARIABLE}${problem.startsWith('[') ? '' : ' '}${problem}` };
}

function parseArray(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
