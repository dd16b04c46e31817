import { parseFrame, type UdpDatagram } from './frame-datagram.js';
import { type Endpoints, HEADERS_LENGTH, writeHeaders } from './frame-headers.js';
import * as libc from '../libc/libc.js';
import { writeLinkName } from './link-name.js';
import { openLinkSocket, SOCKADDR_LL_LENGTH } from './link-socket.js';
import { MessageSlab } from '../libc/message-slab.js';
import { SocketError } from '../libc/socket-error.js';

const BURST = 16;
const LARGEST_FRAME = 2048;
const BROADCAST_MAC = Buffer.alloc(6, 0xff);

/** A UDP datagram from an interface, and who sent its frame. */
export interface ReceivedFrame extends UdpDatagram {
  /** The six octets of the sender's hardware address. */
  readonly senderHardwareAddress: Uint8Array;
}

/**
 * Sends and receives UDP over IPv4 on an interface that needs no address: how a DHCP client speaks before it has one.
 * Needs CAP_NET_RAW.
 */
export class PacketSocket {
  /** The interface's own hardware address, six octets. */
  readonly hardwareAddress: Uint8Array;
  readonly #fd: number;
  readonly #interfaceIndex: number;
  readonly #received = new MessageSlab({ count: BURST, size: LARGEST_FRAME });
  readonly #sent = new MessageSlab({ count: 1, size: LARGEST_FRAME });

  /**
   * @param outgoing - true: what the host itself sends through the interface is received too.
   * @throws SocketError
   */
  constructor(interfaceName: string, { outgoing = false }: { readonly outgoing?: boolean } = {}) {
    const { fd, interfaceIndex, hardwareAddress } = openLinkSocket(
      interfaceName,
      outgoing ? libc.ETHERTYPE_ALL : libc.ETHERTYPE_IPV4,
    );
    this.#fd = fd;
    this.#interfaceIndex = interfaceIndex;
    this.hardwareAddress = hardwareAddress;
  }

  /** Sends a datagram of at most 1472 octets to everybody on the link. @throws SocketError */
  broadcast(payload: Uint8Array, endpoints: Endpoints): void {
    const frame = this.#sent.buffers[0] as Buffer;
    frame.set(payload, HEADERS_LENGTH);
    writeHeaders(frame, payload.length, endpoints);
    writeLinkName(this.#sent.names[0] as Buffer, this.#interfaceIndex, BROADCAST_MAC);
    this.#sent.setOutgoing(0, { start: 0, end: HEADERS_LENGTH + payload.length }, SOCKADDR_LL_LENGTH);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, libc.MSG_DONTWAIT) < 1) throw new SocketError('send a frame');
  }

  /** The UDP datagrams that have come in since the last call; does not wait. */
  receive(): ReceivedFrame[] {
    const frames: ReceivedFrame[] = [];
    const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
    for (let index = 0; index < count; index++) {
      const octets = (this.#received.buffers[index] as Buffer).subarray(0, this.#received.receivedLength(index));
      const datagram = parseFrame(octets);
      if (datagram === undefined) continue;
      const senderHardwareAddress = Uint8Array.from((this.#received.names[index] as Buffer).subarray(12, 18));
      frames.push({ ...datagram, payload: Uint8Array.from(datagram.payload), senderHardwareAddress });
    }
    return frames;
  }

  close(): void {
    libc.close(this.#fd);
  }
}
