/**
 * The DHCP agent as a state machine on ports.
 *
 * @packageDocumentation
 */

export { AgentLeadership, type AgentLeadershipSettings } from './agent/agent-leadership.js';
export { DhcpAgent, type DhcpAgentSettings } from './agent/dhcp-agent.js';
export { servedPools } from './agent/pool-report.js';
export { IsolatedInterfaces, type IsolatedInterfacesPorts } from './interface/isolated-interfaces.js';
export { isLeader, type Leadership, type LeadershipChange, nextLeadership, STANDBY } from './leadership/leadership.js';
export { addressEndMs, DEFAULT_LEASE_SECONDS, electionTimes, LEAST_LEASE_SECONDS } from './leadership/leadership-times.js';
export { type PresentAddress, planServerAddresses, type ServerAddressPlan } from './leadership/plan-server-addresses.js';
export * from './packet-path.js';
export { LeaseOwners, type LeaseOwnersPorts } from './pool/lease-owners.js';
export { decoyAddresses } from './probe/decoy-addresses.js';
export { RogueServers, type RogueServersSettings } from './probe/rogue-servers.js';
