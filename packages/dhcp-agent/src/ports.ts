/** What an agent needs of the world. Implementations are at the edge: sockets, the kernel, the log. */
import type { Ipv4Address, MacAddress, ReplyDestination } from '@vmdhcp/dhcp-allocator';

/** An interface, and which one of that name: one that replaced another has another index. */
export interface Link {
  readonly interfaceName: string;
  readonly interfaceIndex: number;
}

/** A server address on an interface. */
export interface ServerAddress extends Link {
  readonly address: Ipv4Address;
  readonly prefixLength: number;
}

/** What a leader asks of the kernel; in tests, of something that stands for it. */
export interface AddressKernel {
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Gives these addresses for so many seconds from now, or prolongs them. Returns what failed, one entry for each address. */
  readonly give: (addresses: readonly ServerAddress[], seconds: number) => readonly (Error | undefined)[];
  /** False if they may still be there. */
  readonly take: (addresses: readonly ServerAddress[]) => boolean;
  /** @throws Error */
  readonly announce: (interfaceName: string, address: Ipv4Address) => void;
  /** Milliseconds of a clock that is not set while it runs. */
  readonly nowMs: () => number;
}

/** A reply that was written, and how it is sent. */
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

/**
 * Answers one packet: writes the reply to the start of `into` (1472 octets) and returns where it goes, or undefined for no
 * reply. Must not throw. `packet` is valid only during the call.
 */
export type DhcpPacketHandler = (packet: Uint8Array, into: Uint8Array) => QueuedReply | undefined;

/** Replies that the kernel did not accept; the clients retransmit. */
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

/** UDP port 67 of one interface, open. */
export interface DhcpSocket {
  /** The interface as it was when the socket was opened. */
  readonly interfaceIndex: number;
  /** False if replies to clients without an address are broadcast. */
  readonly sendsFrames: boolean;
  /** Answers a packet that was received before, as if it was received now. */
  readonly inject: (packet: Uint8Array) => void;
  readonly close: () => void;
}

export interface DhcpSockets {
  /** 0: there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Rejects where the socket cannot be opened. */
  readonly open: (interfaceName: string, handler: DhcpPacketHandler, events: DhcpSocketEvents) => Promise<DhcpSocket>;
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

/** Probes an address on an interface (RFC 5227 §2.1). Rejects where it cannot be probed. */
export type AddressProbe = (interfaceName: string, question: AddressQuestion) => Promise<AddressUse>;

/** Another DHCP server on a network. */
export interface FoundServer {
  /** Server identifier, or the sender's address. */
  readonly address: string;
  readonly macAddress: MacAddress;
}

/** Sends a DISCOVER as a client that no server of ours knows, and returns which servers offer an address. Rejects where it cannot be sent. */
export type ServerProbe = (interfaceName: string) => Promise<readonly FoundServer[]>;

/** Names that are looked up beside the packet path. */
export interface ResolvedNames {
  /** Name to addresses, as known at the moment. */
  readonly known: ReadonlyMap<string, readonly string[]>;
  /** Looks up these names from now on, and no others. */
  readonly want: (names: ReadonlySet<string>) => void;
  readonly stop: () => void;
}

/** What is logged goes here. */
export interface Logger {
  level: string;
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  readonly child: (bindings: Readonly<Record<string, unknown>>) => Logger;
}

interface LogLine {
  (facts: object, message: string): void;
  (message: string): void;
}
