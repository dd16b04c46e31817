/**
 * The DHCP agent as a machine on ports.
 *
 * @packageDocumentation
 */

export { DhcpAgent, type DhcpAgentSettings } from './agent/dhcp-agent.js';
export type { AgentEvent, LeaseEvent } from './agent-event.js';
export { every } from './every.js';
export { IsolatedInterfaces, type IsolatedInterfacesPorts } from './interface/isolated-interfaces.js';
export { type InterfaceState, ServedInterface, type ServedInterfacePorts } from './interface/served-interface.js';
export { type ServingFacts, type UnservedPool, unservedPools } from './interface/unserved-pools.js';
export { isLeader, type Leadership, type LeadershipChange, nextLeadership, STANDBY } from './leadership/leadership.js';
export { addressEndMs, DEFAULT_LEASE_SECONDS, electionTimes, LEAST_LEASE_SECONDS } from './leadership/leadership-times.js';
export { type PresentAddress, planServerAddresses, type ServerAddressPlan } from './leadership/plan-server-addresses.js';
export { RateBudget } from './limits/rate-budget.js';
export { LeaseOwners, type LeaseOwnersPorts } from './pool/lease-owners.js';
export type {
  AddressProbe,
  AddressQuestion,
  AddressUse,
  AgentObserver,
  AgentPorts,
  DhcpPacketHandler,
  DhcpSocket,
  DhcpSocketEvents,
  DhcpSockets,
  FoundServer,
  GroupLease,
  InterfaceIsolation,
  LeaseContent,
  Link,
  LoggedPacket,
  PacketLog,
  QueuedReply,
  ResolvedNames,
  SeenLease,
  SendFailure,
  ServerAddress,
  ServerAddressKernel,
  ServerProbe,
} from './ports.js';
export { AddressUsers, type AddressUsersPorts, DECOYS, type FindAddressUsers } from './probe/address-users.js';
export { type ClientPacket, encodeClientPacket } from './probe/client-packet.js';
export { ConflictProbes, type ConflictProbesSettings } from './probe/conflict-probes.js';
export { DhcpProbe, type DhcpProbeSettings, type ProbeSocket } from './probe/dhcp-probe.js';
export { printable } from './probe/printable.js';
export type { OfferedRoute, ServerAnswer } from './probe/server-answer.js';
export { AGENT_PACKET_REASONS, type PacketDropReason, type SuppressReason } from './server/agent-packet-reasons.js';
export { ConflictedLeases } from './server/conflicted-leases.js';
export { type AnswerGate, DhcpServer, type DhcpServerPorts } from './server/dhcp-server.js';
export { MessageCounters } from './server/message-counters.js';
export { warmUpPacketPath } from './server/warm-up.js';
