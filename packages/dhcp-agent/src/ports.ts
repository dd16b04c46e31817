/**
 * What an agent needs of the world, on one screen. The machine calls these and nothing else: implementations are at the edge (sockets,
 * netlink, HTTPS, the log), and in `@vmdhcp/dhcp-agent/testing`.
 */
import type { Answer, Ipv4Address, MacAddress, ReplyDestination } from '@vmdhcp/dhcp-allocator';
import type { Clock, KubernetesObject, LeaseStore, ResourcePort, StoredLease } from '@vmdhcp/kube-runtime';
import type { AgentEvent } from './agent-event.js';
import type { PacketCaptures } from './capture/packet-captures.js';
import type { AgentTraffic } from './traffic/agent-traffic.js';

export interface AgentPorts {
  /** Monotonic time and timers. It goes on while the process is frozen: a timer then fires late. */
  readonly clock: Clock;
  /** Milliseconds since 1970. It may be set while the agent runs, so only expiry times that people read depend on it. */
  readonly wallTimeMs: () => number;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  readonly addresses: ServerAddressKernel;
  readonly sockets: DhcpSockets;
  readonly probeAddress: AddressProbe;
  readonly probeServers: ServerProbe;
  readonly lease: GroupLease;
  /** Lists and watches the IPPool of this `namespace/name`, and no other object. */
  readonly poolSource: (poolKey: string) => ResourcePort<KubernetesObject>;
  /** Looks up names of NTP servers beside the packet path; calls back when that led to other addresses. */
  readonly ntpNames: (onChange: () => void) => ResolvedNames;
  readonly isolation: InterfaceIsolation;
  /** What the agent's pod itself needs this address for; undefined: nothing. A pool with such a server address is not served. */
  readonly neededFor: (serverAddress: Ipv4Address) => string | undefined;
  readonly packetLog?: PacketLog;
  /** Where it is noted what each client sent and got. Default: nowhere. */
  readonly traffic?: AgentTraffic | undefined;
  /** Captures that may run. Default: none. */
  readonly captures?: PacketCaptures | undefined;
  readonly observer: AgentObserver;
}

/** Receives what happened, once, in order; counts it or logs it. Must not throw. */
export interface AgentObserver {
  readonly observe: (event: AgentEvent) => void;
}

/** An interface, and which one of that name: one that replaced another has another index. */
export interface Link {
  readonly interfaceName: string;
  readonly interfaceIndex: number;
}

export interface ServerAddress extends Link {
  readonly address: Ipv4Address;
  readonly prefixLength: number;
}

/**
 * Server addresses on interfaces. Calls are synchronous, and the process may be frozen just before or after any of them. The kernel counts
 * a lifetime from when it gets the call, in whole seconds, and removes an address up to a quarter of a second late, also of a process that
 * is frozen or dead.
 */
export interface ServerAddressKernel {
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /**
   * Adds these addresses for so many seconds; those that are there are prolonged or shortened to that. 0xffffffff: without end. Returns what
   * failed, one entry for each address; one that failed may be there all the same.
   */
  readonly add: (addresses: readonly ServerAddress[], seconds: number) => readonly (Error | undefined)[];
  /** False if one of them may still be there. True for those that never were. */
  readonly remove: (addresses: readonly ServerAddress[]) => boolean;
  /** Tells the network who has the address now (gratuitous ARP). @throws Error */
  readonly announce: (interfaceName: string, address: Ipv4Address) => void;
}

/** A reply that was written, and where it goes. */
export interface QueuedReply {
  /** Octets that were written. */
  readonly length: number;
  readonly destination: ReplyDestination;
  /** Source of the frame. */
  readonly serverAddress: number;
  /** chaddr: six octets. */
  readonly hardwareAddress: Uint8Array;
  /** True: the client is on the link, so a unicast reply goes in a frame to its MAC address where frames can be sent. */
  readonly isOnLink: boolean;
}

/** Where a packet came from. It may read the address only when it is asked for. */
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
export interface SendFailure {
  readonly error: string;
  readonly count: number;
}

export interface DhcpSocketEvents {
  readonly onSendFailure: (failure: SendFailure) => void;
  /** The socket failed after it was opened. */
  readonly onError: (error: Error) => void;
  /** Nanoseconds from reading a burst to having answered it. */
  readonly onBurst: (durationNs: number, packets: number) => void;
}

/** A reply that had to wait, until a record was on the disk for instance. */
export interface LateReply {
  readonly bytes: Uint8Array;
  readonly queued: QueuedReply;
}

/** UDP port 67 of one interface. It is useless, without an error, once the interface was deleted. */
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

export interface DhcpSockets {
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Rejects where the socket cannot be opened. */
  readonly open: (interfaceName: string, handler: DhcpPacketHandler, events: DhcpSocketEvents) => Promise<DhcpSocket>;
}

/** Keeps networks apart. */
export interface InterfaceIsolation {
  /** Isolates what is new and corrects what was changed. Called again and again; never throws. */
  readonly check: () => void;
  /** Why the interface must not be served; undefined: it is isolated, or not there. */
  readonly problemOf: (interfaceName: string) => string | undefined;
}

export interface AddressQuestion {
  readonly address: Ipv4Address;
  /** The client that the address belongs to. */
  readonly macAddress: MacAddress;
}

/** Which hosts answered for an address. */
export interface AddressUse {
  /** True: the client itself. */
  readonly byClient: boolean;
  /** Other hosts, by their MAC addresses. */
  readonly others: readonly MacAddress[];
}

/** Probes an address on an interface (RFC 5227 §2.1), within about a second. Rejects where it cannot be probed. */
export type AddressProbe = (interfaceName: string, question: AddressQuestion) => Promise<AddressUse>;

/** Another DHCP server on a network. */
export interface FoundServer {
  /** Server identifier, or the sender's address. */
  readonly address: string;
  readonly macAddress: MacAddress;
}

/** Sends a DISCOVER of a client that agents do not know, and returns which servers offer an address. Rejects where it cannot be sent. */
export type ServerProbe = (interfaceName: string) => Promise<readonly FoundServer[]>;

/** The Lease of the agents' group, in which annotations travel with the election. */
export interface GroupLease {
  /** Rejects within the renew deadline: a leader that waits for longer is none. A write may take effect although it was rejected. */
  readonly store: (content: LeaseContent) => LeaseStore;
  /** Tells of the Lease as it is and whenever it changes, perhaps late; undefined: it was deleted. Returns how to end that. */
  readonly watch: (onSeen: (lease: SeenLease | undefined) => void) => () => void;
}

export interface LeaseContent {
  /** The annotations that a write sets; others stay. @param isNew - true: the Lease does not exist. */
  readonly annotations: (isNew: boolean) => Readonly<Record<string, string>>;
  /** Called whenever the Lease was read or written, before the elector learns of it. */
  readonly onAnnotations: (annotations: Readonly<Record<string, string>>, version: string) => void;
}

export interface SeenLease {
  readonly stored: StoredLease;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Names that are looked up. */
export interface ResolvedNames {
  /** Name to addresses, as known at the moment. */
  readonly known: ReadonlyMap<string, readonly string[]>;
  /** Looks up these names from now on, and no others. */
  readonly want: (names: ReadonlySet<string>) => void;
  readonly stop: () => void;
}

/** What becomes of single packets, for people who look for a fault. */
export interface PacketLog {
  /** False: `note` need not be called. */
  readonly isActive: boolean;
  readonly note: (logged: LoggedPacket) => void;
}

export interface LoggedPacket {
  readonly packet: Uint8Array;
  readonly answer: Answer;
  readonly interfaceName: string;
  /** Undefined: no pool is served on the interface. */
  readonly poolName: string | undefined;
  /** Why no reply was sent although there is one. */
  readonly notSent: string | undefined;
}
