import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import {
  type LinkTarget,
  SOCKADDR_IN_LENGTH,
  SOCKADDR_LL_LENGTH,
  writeSockaddrIn,
  writeSockaddrLl,
} from '../libc/socket-address.js';
import { LARGEST_PAYLOAD, payloadSum, UDP_HEADERS_LENGTH, writeUdpHeaders } from '../packet/udp-headers.js';
import type { OutgoingDatagram } from './outgoing-datagram.js';

/** Octets of a datagram: a multiple of four, because its sum is computed in words. */
const SHAPE = { count: 64, size: UDP_HEADERS_LENGTH + LARGEST_PAYLOAD };
const MMSGHDR_LENGTH = 64;
const BROADCAST_ADDRESS = 0xffff_ffff;

/** The sockets through which a burst is sent. */
export interface SendingSockets {
  /** The UDP socket. */
  readonly udp: number;
  /** The port it is bound to. */
  readonly port: number;
  /** A packet socket, if the process may open one. */
  readonly packet: number | undefined;
  /** The interface, for frames. */
  readonly link: LinkTarget;
}

/** The kernel refused some datagrams. */
export interface SendFailure {
  /** The error of the first one: `ENETUNREACH`. */
  readonly error: string;
  readonly count: number;
}

/**
 * Datagrams that are written in place and sent with one system call for each kind of socket. The payload of a datagram is first written into
 * `next()`, then it is queued with `push`. All memory is allocated once.
 */
export class OutgoingBurst {
  /** Each payload has room for the headers of a frame in front, because its way out is known only after it is written. */
  readonly #datagrams = new MessageSlab(SHAPE);
  readonly #frames = new MessageSlab(SHAPE, this.#datagrams);
  readonly #payloads: readonly Buffer[];
  /** The same memory as `buffers`, for sums. */
  readonly #words: readonly Int32Array[];
  #datagramCount = 0;
  #frameCount = 0;

  constructor() {
    const { buffers } = this.#datagrams;
    this.#payloads = buffers.map((buffer) => buffer.subarray(UDP_HEADERS_LENGTH));
    this.#words = buffers.map(({ buffer, byteOffset }) => new Int32Array(buffer, byteOffset, SHAPE.size / 4));
  }

  /** True if the next datagram needs a `flush` before it. */
  get isFull(): boolean {
    return this.#datagramCount + this.#frameCount === SHAPE.count;
  }

  /** The memory for the payload of the next datagram: 1472 octets. */
  next(): Buffer {
    return this.#payloads[this.#datagramCount + this.#frameCount] as Buffer;
  }

  push(datagram: OutgoingDatagram, sockets: SendingSockets): void {
    if (datagram.delivery === 'routed' || sockets.packet === undefined) this.#pushDatagram(datagram);
    else this.#pushFrame(datagram, sockets);
  }

  /** Sends the queued datagrams. Never throws: it returns the ones that the kernel refuses. */
  flush({ udp, packet }: SendingSockets): SendFailure | undefined {
    const failedDatagrams = this.#datagramCount === 0 ? undefined : send(udp, this.#datagrams, this.#datagramCount);
    const failedFrames =
      this.#frameCount === 0 || packet === undefined ? undefined : send(packet, this.#frames, this.#frameCount);
    this.#datagramCount = 0;
    this.#frameCount = 0;
    if (failedDatagrams === undefined || failedFrames === undefined) return failedDatagrams ?? failedFrames;
    return { error: failedDatagrams.error, count: failedDatagrams.count + failedFrames.count };
  }

  #pushDatagram({ length, delivery, destinationAddress, destinationPort }: OutgoingDatagram): void {
    const index = this.#datagramCount;
    const address = delivery === 'framed-or-broadcast' ? BROADCAST_ADDRESS : destinationAddress;
    writeSockaddrIn(this.#datagrams.names[index] as Buffer, address, destinationPort);
    // Its payload was written behind those of all queued datagrams, including frames.
    const start = this.#frameCount * SHAPE.size + UDP_HEADERS_LENGTH;
    this.#datagrams.setOutgoing(index, { start, end: start + length }, SOCKADDR_IN_LENGTH);
    this.#datagramCount++;
  }

  #pushFrame(datagram: OutgoingDatagram, { link, port: sourcePort }: SendingSockets): void {
    const { length, sourceAddress, destinationAddress, destinationPort, hardwareAddress } = datagram;
    const index = this.#frameCount;
    const slot = this.#datagramCount + index;
    const end = UDP_HEADERS_LENGTH + length;
    const packet = this.#datagrams.buffers[slot] as Buffer;
    const endpoints = { sourceAddress, sourcePort, destinationAddress, destinationPort };
    writeUdpHeaders(packet, length, endpoints, payloadSum(packet, this.#words[slot] as Int32Array, end));
    writeSockaddrLl(this.#frames.names[index] as Buffer, link, hardwareAddress);
    const start = this.#datagramCount * SHAPE.size;
    this.#frames.setOutgoing(index, { start, end: start + end }, SOCKADDR_LL_LENGTH);
    this.#frameCount++;
  }
}

/** Sends the first `count` messages; a message that fails is skipped, so that the others are still sent. */
function send(socket: number, slab: MessageSlab, count: number): SendFailure | undefined {
  let failure: SendFailure | undefined;
  let at = 0;
  while (at < count) {
    const headers = at === 0 ? slab.headers : slab.headers.subarray(at * MMSGHDR_LENGTH);
    const sent = libc.sendmmsg(socket, headers, count - at, libc.MSG_DONTWAIT);
    if (sent <= 0) {
      failure = { error: failure?.error ?? libc.lastErrorName(), count: (failure?.count ?? 0) + 1 };
      at++;
    } else {
      at += sent;
    }
  }
  return failure;
}
