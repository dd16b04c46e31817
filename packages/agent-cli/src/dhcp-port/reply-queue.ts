import { type ReplyDestination, SERVER_PORT } from '@vmdhcp/dhcp-allocator';
import {
  AF_INET,
  HEADERS_LENGTH,
  lastErrorName,
  MessageSlab,
  MSG_DONTWAIT,
  sendmmsg,
  writeHeaders,
  writeLinkName,
} from '@vmdhcp/linux-sockets';

const BURST = 64;
const LARGEST_REPLY = 1472;
const SOCKADDR_IN_LENGTH = 16;
const SOCKADDR_LL_LENGTH = 20;
const BROADCAST_MAC = Buffer.alloc(6, 0xff);

/** Who replies, and through what. */
export interface ReplySockets {
  /** The socket bound to the interface and port 67. */
  readonly udp: number;
  /** A packet socket, if the process may have one; without it every reply that needs a frame is broadcast by UDP. */
  readonly packet: number | undefined;
  readonly interfaceIndex: number;
}

export interface QueuedReply {
  /** Octets that were written to `next()`. */
  readonly length: number;
  readonly destination: ReplyDestination;
  /** Source of the frame. */
  readonly serverAddress: number;
  /** chaddr: six octets. */
  readonly hardwareAddress: Uint8Array;
  /**
   * True: the client is on the link, so a unicast reply goes in a frame to its MAC address where frames can be sent. The kernel would ask
   * for that address by ARP, and keep room for it and for the reply for seconds where a message names an address that is not there.
   */
  readonly isOnLink: boolean;
}

/** The kernel did not take some replies; the clients will ask again. */
export interface SendFailure {
  readonly error: string;
  readonly count: number;
}

/**
 * Replies of one burst, written in place and sent with one system call a socket. A reply is first written into `next()`,
 * then queued with `push`.
 */
export class ReplyQueue {
  readonly #datagrams = new MessageSlab({ count: BURST, size: HEADERS_LENGTH + LARGEST_REPLY });
  readonly #frames = new MessageSlab({ count: BURST, size: HEADERS_LENGTH + LARGEST_REPLY });
  readonly #payloads: readonly Buffer[];
  #datagramCount = 0;
  #frameCount = 0;

  constructor() {
    this.#payloads = this.#datagrams.buffers.map((buffer) => buffer.subarray(HEADERS_LENGTH));
  }

  /** True if the next reply needs a `flush` before it. */
  get isFull(): boolean {
    return this.#datagramCount === BURST || this.#frameCount === BURST;
  }

  /** Where the next reply goes: 1472 octets. */
  next(): Buffer {
    return this.#payloads[this.#datagramCount] as Buffer;
  }

  push(reply: QueuedReply, sockets: ReplySockets): void {
    const needsFrame = reply.destination.kind !== 'unicast' || reply.isOnLink;
    if (!needsFrame || sockets.packet === undefined) this.#pushDatagram(reply);
    else this.#pushFrame(reply, sockets.interfaceIndex);
  }

  /** Sends what is queued. Never throws: what the kernel refuses is returned. */
  flush({ udp, packet }: ReplySockets): SendFailure | undefined {
    const failedDatagrams = this.#datagramCount === 0 ? undefined : send(udp, this.#datagrams, this.#datagramCount);
    const failedFrames =
      this.#frameCount === 0 || packet === undefined ? undefined : send(packet, this.#frames, this.#frameCount);
    this.#datagramCount = 0;
    this.#frameCount = 0;
    if (failedDatagrams === undefined || failedFrames === undefined) return failedDatagrams ?? failedFrames;
    return { error: failedDatagrams.error, count: failedDatagrams.count + failedFrames.count };
  }

  #pushDatagram({ length, destination }: QueuedReply): void {
    const index = this.#datagramCount++;
    const name = this.#datagrams.names[index] as Buffer;
    name.writeUInt16LE(AF_INET, 0);
    name.writeUInt16BE(destination.port, 2);
    name.writeUInt32BE(destination.kind === 'link' ? 0xffffffff : destination.address, 4);
    this.#datagrams.setOutgoing(index, { start: HEADERS_LENGTH, end: HEADERS_LENGTH + length }, SOCKADDR_IN_LENGTH);
  }

  #pushFrame(reply: QueuedReply, interfaceIndex: number): void {
    const { length, destination, serverAddress, hardwareAddress } = reply;
    const payload = this.next();
    const index = this.#frameCount++;
    const frame = this.#frames.buffers[index] as Buffer;
    payload.copy(frame, HEADERS_LENGTH, 0, length);
    writeHeaders(frame, length, {
      sourceAddress: serverAddress,
      sourcePort: SERVER_PORT,
      destinationAddress: destination.address,
      destinationPort: destination.port,
    });
    writeLinkName(
      this.#frames.names[index] as Buffer,
      interfaceIndex,
      destination.kind === 'broadcast' ? BROADCAST_MAC : hardwareAddress,
    );
    this.#frames.setOutgoing(index, { start: 0, end: HEADERS_LENGTH + length }, SOCKADDR_LL_LENGTH);
  }
}

/** Sends the first `count` datagrams; one that fails is passed over, so that it costs no other client its answer. */
function send(socket: number, slab: MessageSlab, count: number): SendFailure | undefined {
  let failure: SendFailure | undefined;
  let at = 0;
  while (at < count) {
    const headers = at === 0 ? slab.headers : slab.headers.subarray(at * 64);
    const sent = sendmmsg(socket, headers, count - at, MSG_DONTWAIT);
    if (sent <= 0) {
      failure = { error: lastErrorName(), count: (failure?.count ?? 0) + 1 };
      at++;
    } else {
      at += sent;
    }
  }
  return failure;
}
