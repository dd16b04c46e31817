/**
 * - `unified`: all pools in one group, whose Deployment a chart installed;
 * - `per-pool`: a group for each pool;
 * - `per-network`: groups of pools of the same cluster network, with a maximum size.
 */
export const AGENT_TOPOLOGIES = ['unified', 'per-pool', 'per-network'] as const;
/** Which pools share agents. */
export type AgentTopology = (typeof AGENT_TOPOLOGIES)[number];
