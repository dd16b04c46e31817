/**
 * The DHCP agent as a machine on ports.
 *
 * @packageDocumentation
 */

export { type PoolState, reportOn } from './agent/pool-report.js';
export { every } from './every.js';
export { IsolatedInterfaces, type IsolatedInterfacesPorts } from './interface/isolated-interfaces.js';
export { type PoolSocketState, PoolSockets, type PoolSocketsSettings } from './interface/pool-sockets.js';
export { type InterfaceState, ServedInterface, type ServedInterfacePorts } from './interface/served-interface.js';
export { type ServingFacts, type UnservedPool, unservedPools } from './interface/unserved-pools.js';
export { LeaderTerm, type LeaderTermPorts } from './leadership/leader-term.js';
export {
  DEFAULT_LEASE_SECONDS,
  electionTimes,
  LEAST_LEASE_SECONDS,
  safeAddressMs,
} from './leadership/leadership-times.js';
export { StandbyGate, type StandbyGateSettings } from './leadership/standby-gate.js';
export { RateBudget } from './limits/rate-budget.js';
export { type FollowedPool, FollowedPools, type FollowedPoolsPorts } from './pool/followed-pools.js';
export { LeaseOwners, type LeaseOwnersPorts } from './pool/lease-owners.js';
export type {
  AddressKernel,
  AddressProbe,
  AddressQuestion,
  AddressUse,
  DhcpPacketHandler,
  DhcpSocket,
  DhcpSocketEvents,
  DhcpSockets,
  FoundServer,
  Link,
  Logger,
  QueuedReply,
  ResolvedNames,
  SendFailure,
  ServerAddress,
  ServerProbe,
} from './ports.js';
export { AddressInquiry, type AddressInquiryPorts, type AskWhoUses, DECOYS } from './probe/address-inquiry.js';
export { type ClientPacket, encodeClientPacket } from './probe/client-packet.js';
export { ConflictProbes, type ConflictProbesSettings } from './probe/conflict-probes.js';
export { DhcpProbe, type DhcpProbeSettings, type ProbeSocket } from './probe/dhcp-probe.js';
export { printable } from './probe/printable.js';
export { RogueServers, type RogueServersSettings } from './probe/rogue-servers.js';
export type { OfferedRoute, ServerAnswer } from './probe/server-answer.js';
export { AGENT_PACKET_REASONS, type PacketDropReason, type SuppressReason } from './server/agent-packet-reasons.js';
export { ConflictedLeases } from './server/conflicted-leases.js';
export { type AnswerGate, DhcpServer, type DhcpServerPorts, type LoggedPacket, type PacketLog } from './server/dhcp-server.js';
export { type LeaseEvent, LeaseEventLog } from './server/lease-event-log.js';
export { MessageCounters } from './server/message-counters.js';
