/**
 * The ports of an agent, on one screen. The agent calls nothing else; implementations are at the edge (sockets, netlink, HTTPS, the log), and in
 * `@vmdhcp/dhcp-agent/testing`.
 */
import type { Answer, Ipv4Address, MacAddress, ReplyDestination } from '@vmdhcp/dhcp-allocator';
import type { Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { Dhcpv6Source, HeardAdvertisement, HeardNeighbor } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { Clock, KubernetesObject, LeaseStore, ResourcePort, StoredLease } from '@vmdhcp/kube-runtime';
import type { AgentEvent } from './agent-event.js';
import type { PacketCaptures } from './capture/packet-captures.js';
import type { AgentTraffic } from './traffic/agent-traffic.js';

/** Everything outside of an agent that it uses: clocks, addresses, sockets, probes, the Lease, the pools. */
export interface AgentPorts {
  /** Monotonic time and timers. Time goes on while the process is frozen; a timer then fires late. */
  readonly clock: Clock;
  /** Milliseconds since 1970. It may be set while the agent runs, so only expiry times that people read depend on it. */
  readonly wallTimeMs: () => number;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  readonly addresses: ServerAddressKernel;
  readonly sockets: DhcpSockets;
  readonly ipv6Sockets: Ipv6Sockets;
  readonly probeAddress: AddressProbe;
  readonly listenForAddresses: ListenForAddresses;
  readonly probeServers: ServerProbe;
  readonly lease: GroupLease;
  /** Lists and watches the IPPool of this `namespace/name`, and no other object. */
  readonly poolSource: (poolKey: string) => ResourcePort<KubernetesObject>;
  /** Looks up names of NTP servers outside the packet path; calls back when their addresses change. */
  readonly ntpNames: (onChange: () => void) => NameLookup;
  readonly isolation: InterfaceIsolation;
  /** Why the agent's pod itself needs this address; undefined if it does not. A pool with such a server address is not served. */
  readonly neededFor: (serverAddress: Ipv4Address) => string | undefined;
  readonly packetLog?: PacketLogPort;
  /** Notes the messages and answers of each client. Optional. */
  readonly traffic?: AgentTraffic | undefined;
  /** Running captures. Optional. */
  readonly captures?: PacketCaptures | undefined;
  readonly observer: AgentObserver;
}

/** Receives each event once, in order; counts or logs it. Must not throw. */
export interface AgentObserver {
  readonly observe: (event: AgentEvent) => void;
}

/** An interface. Another one of the same name has another index. */
export interface InterfaceIdentity {
  readonly interfaceName: string;
  readonly interfaceIndex: number;
}

/** An address that the leader holds on an interface. */
export interface ServerAddress extends InterfaceIdentity {
  readonly address: Ipv4Address;
  readonly prefixLength: number;
}

/**
 * Server addresses on interfaces. Calls are synchronous, and the process may be frozen just before or after any of them. The kernel counts
 * a lifetime from when it gets the call, in whole seconds, and removes an address up to a quarter of a second late, also of a process that
 * is frozen or dead.
 */
export interface ServerAddressKernel {
  /** Returns 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /**
   * Adds these addresses for this many seconds; existing ones are prolonged or shortened to that. 0xffffffff means forever. Returns the failures, one
   * for each address; a failed address may be there nevertheless.
   */
  readonly add: (addresses: readonly ServerAddress[], seconds: number) => readonly (Error | undefined)[];
  /** Removes addresses. False if one of them may still be there; true for addresses that never were. */
  readonly remove: (addresses: readonly ServerAddress[]) => boolean;
  /** Announces to the network that this interface has the address (gratuitous ARP). @throws Error */
  readonly announce: (interfaceName: string, address: Ipv4Address) => void;
}

/** A written reply and its destination. */
export interface QueuedReply {
  /** Octets that were written. */
  readonly length: number;
  readonly destination: ReplyDestination;
  /** Source of the frame. */
  readonly serverAddress: number;
  /** chaddr: six octets. */
  readonly hardwareAddress: Uint8Array;
  /** True if the client is on the link, so that a unicast reply goes in a frame to its MAC address, if frames can be sent. */
  readonly isOnLink: boolean;
}

/** The source of a packet. It may read the address lazily. */
export interface PacketSender {
  readonly address: Ipv4Address;
  readonly port: number;
}

/**
 * Answers one packet: writes the reply to the start of `into` (1472 octets) and returns where it goes, or undefined for no
 * reply. Never throws. `packet` and `sender` are valid only during the call.
 */
export type DhcpPacketHandler = (packet: Uint8Array, into: Uint8Array, sender?: PacketSender) => QueuedReply | undefined;

/** Replies that the kernel did not accept; their clients retransmit. */
export interface UnsentReplies {
  readonly error: string;
  readonly count: number;
}

/** What a socket reports beside packets: failures, and how large its bursts are. */
export interface DhcpSocketEvents {
  readonly onSendFailure: (failure: UnsentReplies) => void;
  /** The socket failed after it was opened. */
  readonly onError: (error: Error) => void;
  /** Nanoseconds from reading a burst to having answered it. */
  readonly onBurst: (durationNs: number, packets: number) => void;
}

/** A delayed reply, for example until a record was on disk. */
export interface LateReply {
  readonly poolName: string;
  readonly bytes: Uint8Array;
  readonly queued: QueuedReply;
}

/** UDP port 67 of one interface. Once the interface is deleted, it is useless but reports no error. */
export interface DhcpSocket {
  /** The interface as it was when the socket was opened. */
  readonly interfaceIndex: number;
  /** False if replies to clients without an address are broadcast. */
  readonly sendsFrames: boolean;
  /** Answers a packet that was received before, as if it was received now. */
  readonly inject: (packet: Uint8Array) => void;
  /** Sends replies outside of the answer to a packet. */
  readonly send: (replies: readonly LateReply[]) => void;
  readonly close: () => void;
}

/** Opens sockets for DHCP on interfaces. */
export interface DhcpSockets {
  /** Returns 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Rejects if the socket cannot be opened. */
  readonly open: (interfaceName: string, handler: DhcpPacketHandler, events: DhcpSocketEvents) => Promise<DhcpSocket>;
}

/** A reply to the source of a packet. */
export interface Dhcpv6Datagram {
  readonly bytes: Uint8Array;
  /** UDP port of the receiver. */
  readonly port: number;
}

/** Handles the IPv6 packets of one interface. */
export interface Ipv6Handlers {
  /** Handles a message of a host that asks for a Router Advertisement; undefined if it has no address yet. */
  readonly onRouterSolicitation: (source: Ipv6Source | undefined) => void;
  /** Handles a Router Advertisement. @param isAsOfAgent - true if it looks like that of another agent. */
  readonly onRouterAdvertisement: (source: Ipv6Source, heard: HeardAdvertisement, isAsOfAgent: boolean) => void;
  /** Handles what a host says of itself. @param macAddress - the host's. */
  readonly onNeighborAdvertisement: (heard: HeardNeighbor, macAddress: MacAddress) => void;
  /** Answers one packet of DHCPv6, or not. Never throws. `packet` is valid only during the call. */
  readonly answerDhcpv6: (packet: Uint8Array, source: Dhcpv6Source) => Dhcpv6Datagram | undefined;
  readonly onSendFailure: (failure: UnsentReplies) => void;
  /** The socket failed after it was opened. */
  readonly onError: (error: Error) => void;
}

/** A host on the link. */
export interface Ipv6Source {
  readonly address: Ipv6Address;
  readonly macAddress: MacAddress;
}

/** Between whom a Router Advertisement is sent. */
export interface AdvertisementWay {
  /** The router in whose name; undefined for the link-local address of the interface. */
  readonly from: Ipv6Address | undefined;
  /** The host; undefined for all. */
  readonly to: Ipv6Source | undefined;
}

/** IPv6 packets of one interface, in frames: the interface itself may have no IPv6. */
export interface Ipv6Socket {
  /** The interface as it was when the socket was opened. */
  readonly interfaceIndex: number;
  /** The interface's MAC address, six octets. */
  readonly hardwareAddress: Uint8Array;
  /** Sends a Router Advertisement. Never throws. */
  readonly advertise: (message: Uint8Array, way: AdvertisementWay) => void;
  /** Asks all routers for Router Advertisements. Never throws. */
  readonly solicitRouters: () => void;
  /** Asks the host with this address whether it is there. Never throws. */
  readonly solicitNeighbor: (address: Ipv6Address) => void;
  readonly close: () => void;
}

/** Opens sockets for IPv6 on interfaces. */
export interface Ipv6Sockets {
  /** Rejects if the socket cannot be opened. */
  readonly open: (interfaceName: string, handlers: Ipv6Handlers) => Promise<Ipv6Socket>;
}

/** Keeps networks apart. */
export interface InterfaceIsolation {
  /** Isolates new interfaces and corrects changes. Called repeatedly; never throws. */
  readonly check: () => void;
  /** Why the interface must not be served; undefined if it is isolated, or does not exist. */
  readonly problemOf: (interfaceName: string) => string | undefined;
}

/** The address that a client wants, and the client: is another machine using it? */
export interface AddressQuestion {
  readonly address: Ipv4Address;
  /** The client that the address belongs to. */
  readonly macAddress: MacAddress;
}

/** The hosts that answered for an address. */
export interface AddressUse {
  /** True if the client itself answered. */
  readonly byClient: boolean;
  /** Other hosts, by their MAC addresses. */
  readonly others: readonly MacAddress[];
}

/** Probes an address on an interface (RFC 5227 §2.1), within about a second. Rejects if it cannot be probed. */
export type AddressProbe = (interfaceName: string, question: AddressQuestion) => Promise<AddressUse>;

/** A host that says in an ARP packet that it has an address. It may lie. */
export interface HeardAddress {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
}

/** Hears by ARP which addresses hosts of a network use. */
export interface AddressListener {
  /** What was heard since the last call, at most about a thousand packets. Once the interface is deleted, nothing is heard. */
  readonly heard: () => readonly HeardAddress[];
  readonly close: () => void;
}

/** Hears ARP packets of hosts with addresses from `lowest` to `highest`; sends nothing. @throws Error */
export type ListenForAddresses = (interfaceName: string, lowest: Ipv4Address, highest: Ipv4Address) => AddressListener;

/** Another DHCP server on a network. */
export interface FoundServer {
  /** Server identifier, or the sender's address. */
  readonly address: string;
  readonly macAddress: MacAddress;
}

/** Sends a DISCOVER of a client that agents do not know, and returns the servers that offer an address. Rejects if it cannot be sent. */
export type ServerProbe = (interfaceName: string) => Promise<readonly FoundServer[]>;

/** The Lease of the agents' group, in which annotations travel with the election. */
export interface GroupLease {
  /** Rejects within the renew deadline: a leader that waits for longer has lost the leadership. A rejected write may still take effect. */
  readonly store: (content: LeaseContent) => LeaseStore;
  /** Reports the current Lease and each change, perhaps late; undefined if it was deleted. Returns a function that ends the watch. */
  readonly watch: (onSeen: (lease: SeenLease | undefined) => void) => () => void;
}

/** The annotations that an agent writes into its Lease, and those of others that it sees. */
export interface LeaseContent {
  /** The annotations that a write sets; others stay. @param isNew - true if the Lease does not exist. */
  readonly annotations: (isNew: boolean) => Readonly<Record<string, string>>;
  /** Called after each read or write of the Lease, before the elector learns of it. */
  readonly onAnnotations: (annotations: Readonly<Record<string, string>>, version: string) => void;
}

/** The Lease as it is stored, with its annotations. */
export interface SeenLease {
  readonly stored: StoredLease;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Looks up names. */
export interface NameLookup {
  /** The currently known addresses by name. */
  readonly known: ReadonlyMap<string, readonly string[]>;
  /** Looks up these names from now on, and no others. */
  readonly want: (names: ReadonlySet<string>) => void;
  readonly stop: () => void;
}

/** The outcome of single packets, for people who look for a fault. */
export interface PacketLogPort {
  /** If false, `note` need not be called. */
  readonly isActive: boolean;
  readonly note: (logged: LoggedPacket) => void;
}

/** A packet of a client and its answer, for the packet log. */
export interface LoggedPacket {
  readonly packet: Uint8Array;
  readonly answer: Answer;
  readonly interfaceName: string;
  /** Undefined if no pool is served on the interface. */
  readonly poolName: string | undefined;
  /** Why a reply was not sent, although there is one. */
  readonly notSent: string | undefined;
}
