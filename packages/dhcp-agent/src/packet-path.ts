/**
 * Serves DHCP on interfaces, without leadership and without pools from an API server: the part of this package that an agent on a bare host uses.
 *
 * @packageDocumentation
 */
export type { AgentEvent, LeaseEvent } from './agent-event.js';
export { type CaptureSettings, PacketCapture, type PassingPacket } from './capture/packet-capture.js';
export { PacketCaptures } from './capture/packet-captures.js';
export type { FiledPacket, FiledStatistics } from './capture/pcapng.js';
export { RAW_HEADERS } from './capture/raw-ip-packet.js';
export { type FiledBlock, PcapngReader } from './capture/read-pcapng.js';
export { every } from './every.js';
export type { InterfaceState } from './interface/interface-socket.js';
export { ServedInterface, type ServedInterfacePorts } from './interface/served-interface.js';
export { type Ipv6Ports, servedIpv6 } from './interface/served-ipv6.js';
export { type ServingFacts, type UnservedPool, unservedPools } from './interface/unserved-pools.js';
export { RateBudget } from './limits/rate-budget.js';
export type {
  AddressListener,
  AddressProbe,
  AddressQuestion,
  AddressUse,
  AgentObserver,
  AgentPorts,
  DhcpPacketHandler,
  DhcpSocket,
  DhcpSocketEvents,
  DhcpSockets,
  Dhcpv6Datagram,
  FoundServer,
  GroupLease,
  HeardAddress,
  InterfaceIdentity,
  InterfaceIsolation,
  Ipv6Handlers,
  Ipv6Socket,
  Ipv6Sockets,
  Ipv6Source,
  LateReply,
  LeaseContent,
  ListenForAddresses,
  LoggedPacket,
  NameLookup,
  PacketLogPort,
  PacketSender,
  QueuedReply,
  SeenLease,
  ServerAddress,
  ServerAddressKernel,
  ServerProbe,
  UnsentReplies,
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
export type { LeaseEnd } from './server/lease-ends.js';
export { MessageCounters } from './server/message-counters.js';
export type { OpenPoolsPort } from './server/open-answers.js';
export { type WarmUp, warmUpPacketPath } from './server/warm-up.js';
export { AgentTraffic, type AgentTrafficSettings } from './traffic/agent-traffic.js';
export type { RoomSizes, Standing } from './traffic/client-slots.js';
export type { ClientView, Counts, PacketView, PlaceView, ReplacedClients } from './traffic/traffic-view.js';
