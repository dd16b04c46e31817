import { FrameSocket } from '../frames/frame-socket.js';
import { Code, encodeFilter, PACKET_TYPE_AT, TO_ANOTHER_HOST, WHOLE_PACKET } from '../libc/packet-filter.js';
import { ALL_REPORT_ROUTERS, encodeGroupReport } from './group-report.js';
import {
  encodeIpv6Packet,
  groupHardwareAddressOf,
  type Ipv6Packet,
  linkLocalAddressBeside,
  NextHeader,
  readIpv6Packet,
} from './ipv6-packet.js';

const ETHERTYPE_IPV6 = 0x86dd;
const NEXT_HEADER_AT = 6;
const ICMPV6_TYPE_AT = 40;
const UDP_DESTINATION_PORT_AT = 42;
const ONE_BURST = 1;

/** What an `Ipv6PacketSocket` receives. */
export interface Ipv6PacketSocketSettings {
  readonly interfaceName: string;
  /** Sixteen octets each. */
  readonly groups: readonly Uint8Array[];
  /** The port of the UDP datagrams. */
  readonly udpPort: number;
  /** The types of the ICMPv6 messages. */
  readonly icmpv6Types: readonly number[];
}

/** An IPv6 packet that is to be sent. */
export type OutgoingIpv6Packet = Omit<Ipv6Packet, 'source'> & Partial<Pick<Ipv6Packet, 'source'>>;

/** An IPv6 packet, and the host that sent its frame. */
export interface ReceivedIpv6Packet extends Ipv6Packet {
  /** Six octets. */
  readonly senderHardwareAddress: Uint8Array;
}

/**
 * Sends and receives IPv6 packets on an interface in frames, independent of the kernel's addresses, routes and sockets: the interface may have no IPv6
 * at all. Needs CAP_NET_RAW.
 */
export class Ipv6PacketSocket {
  readonly #socket: FrameSocket;
  readonly #groups: readonly Uint8Array[];
  /** The usual source of packets, sixteen octets. */
  readonly linkLocalAddress: Uint8Array;

  /** @throws SocketError */
  constructor({ interfaceName, groups, ...accepted }: Ipv6PacketSocketSettings) {
    this.#socket = new FrameSocket({
      interfaceName,
      etherType: ETHERTYPE_IPV6,
      groups: groups.map(groupHardwareAddressOf),
      filter: encodeIpv6Filter(accepted),
    });
    this.#groups = groups;
    this.linkLocalAddress = linkLocalAddressBeside(this.#socket.hardwareAddress);
  }

  /** The interface as it was when the socket was opened; another one of the same name has another index. */
  get interfaceIndex(): number {
    return this.#socket.interfaceIndex;
  }

  /** The interface's own MAC address, six octets. */
  get hardwareAddress(): Uint8Array {
    return this.#socket.hardwareAddress;
  }

  /** Sends a packet, from the link-local address if it has no other source. @param hardwareAddress - of the receiver. @throws SocketError */
  send({ source = this.linkLocalAddress, ...packet }: OutgoingIpv6Packet, hardwareAddress: Uint8Array): void {
    this.#socket.send(encodeIpv6Packet({ ...packet, source }), hardwareAddress);
  }

  /** Tells switches that packets to the groups are wanted here. They forget it after minutes. @throws SocketError */
  reportGroups(): void {
    const report = encodeGroupReport(this.linkLocalAddress, this.#groups);
    this.#socket.send(report, groupHardwareAddressOf(ALL_REPORT_ROUTERS));
  }

  /** Handles packets that have come in, at most 64, so that a flood leaves time for others; does not wait. Returns how many. */
  receive(handler: (packet: ReceivedIpv6Packet) => void): number {
    return this.#socket.receive((octets, sender) => {
      const packet = readIpv6Packet(octets);
      if (packet !== undefined) handler({ ...packet, senderHardwareAddress: Uint8Array.from(sender) });
    }, ONE_BURST);
  }

  close(): void {
    this.#socket.close();
  }
}

/** A program for the datagrams to a port, and for ICMPv6 messages of some types, that are for this host or for groups. */
export function encodeIpv6Filter({ udpPort, icmpv6Types }: Pick<Ipv6PacketSocketSettings, 'udpPort' | 'icmpv6Types'>): Buffer {
  const count = icmpv6Types.length;
  return encodeFilter([
    { code: Code.loadWordAt, value: PACKET_TYPE_AT },
    { code: Code.jumpIfEqual, value: TO_ANOTHER_HOST, ifTrue: 6 + count },
    { code: Code.loadOctetAt, value: NEXT_HEADER_AT },
    { code: Code.jumpIfEqual, value: NextHeader.udp, ifFalse: 2 },
    { code: Code.loadHalfWordAt, value: UDP_DESTINATION_PORT_AT },
    { code: Code.jumpIfEqual, value: udpPort, ifTrue: 3 + count, ifFalse: 2 + count },
    { code: Code.jumpIfEqual, value: NextHeader.icmpv6, ifFalse: 1 + count },
    { code: Code.loadOctetAt, value: ICMPV6_TYPE_AT },
    ...icmpv6Types.map((value, index) => ({ code: Code.jumpIfEqual, value, ifTrue: count - index })),
    { code: Code.return, value: 0 },
    { code: Code.return, value: WHOLE_PACKET },
  ]);
}
