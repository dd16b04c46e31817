import { BROADCAST_MAC } from '../ethernet/mac-address.js';
import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import { readHardwareAddress, SOCKADDR_LL_LENGTH, writeSockaddrLl } from '../libc/socket-address.js';
import { SocketError } from '../libc/socket-error.js';
import { openPacketSocket } from './open-packet-socket.js';
import { type Endpoints, UDP_HEADERS_LENGTH, writeUdpHeaders } from './udp-headers.js';
import { parseUdpPacket, type UdpDatagram } from './udp-packet.js';

const BURST = 16;
const LARGEST_FRAME = 2048;

/** A UDP datagram from an interface, and the host that sent its frame. */
export interface ReceivedFrame extends UdpDatagram {
  /** The six octets of the sender's hardware address. */
  readonly senderHardwareAddress: Uint8Array;
}

/** Sends and receives UDP over IPv4 on an interface that needs no address, independent of the kernel's routes and sockets. Needs CAP_NET_RAW. */
export class PacketSocket {
  /** The interface's own hardware address, six octets. */
  readonly hardwareAddress: Uint8Array;
  readonly #fd: number;
  readonly #interfaceIndex: number;
  readonly #received = new MessageSlab({ count: BURST, size: LARGEST_FRAME });
  readonly #sent = new MessageSlab({ count: 1, size: LARGEST_FRAME });

  /**
   * @param outgoing - true to receive also the packets that the host itself sends through the interface.
   * @throws SocketError
   */
  constructor(interfaceName: string, { outgoing = false }: { readonly outgoing?: boolean } = {}) {
    const etherType = outgoing ? libc.ETHERTYPE_ALL : libc.ETHERTYPE_IPV4;
    const { fd, interfaceIndex, hardwareAddress } = openPacketSocket(interfaceName, etherType);
    this.#fd = fd;
    this.#interfaceIndex = interfaceIndex;
    this.hardwareAddress = hardwareAddress;
  }

  /** Sends a datagram of at most 1472 octets to every host on the link. @throws SocketError */
  broadcast(payload: Uint8Array, endpoints: Endpoints): void {
    const packet = this.#sent.buffers[0] as Buffer;
    packet.set(payload, UDP_HEADERS_LENGTH);
    writeUdpHeaders(packet, payload.length, endpoints);
    const target = { interfaceIndex: this.#interfaceIndex, etherType: libc.ETHERTYPE_IPV4 };
    writeSockaddrLl(this.#sent.names[0] as Buffer, target, BROADCAST_MAC);
    this.#sent.setOutgoing(0, { start: 0, end: UDP_HEADERS_LENGTH + payload.length }, SOCKADDR_LL_LENGTH);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, libc.MSG_DONTWAIT) < 1) throw new SocketError('send a frame');
  }

  /** The UDP datagrams since the last call, at most 16; does not wait. */
  receive(): ReceivedFrame[] {
    const frames: ReceivedFrame[] = [];
    const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
    for (let index = 0; index < count; index++) {
      const octets = (this.#received.buffers[index] as Buffer).subarray(0, this.#received.receivedLength(index));
      const datagram = parseUdpPacket(octets);
      if (datagram === undefined) continue;
      const senderHardwareAddress = readHardwareAddress(this.#received.names[index] as Buffer);
      frames.push({ ...datagram, payload: Uint8Array.from(datagram.payload), senderHardwareAddress });
    }
    return frames;
  }

  close(): void {
    libc.close(this.#fd);
  }
}
