import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import {
  type LinkTarget,
  SOCKADDR_IN_LENGTH,
  SOCKADDR_LL_LENGTH,
  writeSockaddrIn,
  writeSockaddrLl,
} from '../libc/socket-address.js';
import { LARGEST_PAYLOAD, UDP_HEADERS_LENGTH, writeUdpHeaders } from '../packet/udp-headers.js';
import type { OutgoingDatagram } from './outgoing-datagram.js';

const BURST = 64;
const MMSGHDR_LENGTH = 64;
const BROADCAST_ADDRESS = 0xffff_ffff;

/** What a burst is sent through. */
export interface SendingSockets {
  /** The UDP socket. */
  readonly udp: number;
  /** The port it is bound to. */
  readonly port: number;
  /** A packet socket, if the process may have one. */
  readonly packet: number | undefined;
  /** The interface, for frames. */
  readonly link: LinkTarget;
}

/** The kernel did not take some datagrams. */
export interface SendFailure {
  /** Of the first one: `ENETUNREACH`. */
  readonly error: string;
  readonly count: number;
}

/**
 * Datagrams that are written in place and sent with one system call for each kind of socket. The payload of a datagram is first written into
 * `next()`, then it is queued with `push`. All memory is allocated once.
 */
export class OutgoingBurst {
  readonly #datagrams = new MessageSlab({ count: BURST, size: UDP_HEADERS_LENGTH + LARGEST_PAYLOAD });
  readonly #frames = new MessageSlab({ count: BURST, size: UDP_HEADERS_LENGTH + LARGEST_PAYLOAD });
  readonly #payloads: readonly Buffer[];
  #datagramCount = 0;
  #frameCount = 0;

  constructor() {
    this.#payloads = this.#datagrams.buffers.map((buffer) => buffer.subarray(UDP_HEADERS_LENGTH));
  }

  /** True if the next datagram needs a `flush` before it. */
  get isFull(): boolean {
    return this.#datagramCount === BURST || this.#frameCount === BURST;
  }

  /** Where the payload of the next datagram goes: 1472 octets. */
  next(): Buffer {
    return this.#payloads[this.#datagramCount] as Buffer;
  }

  push(datagram: OutgoingDatagram, sockets: SendingSockets): void {
    if (datagram.delivery === 'routed' || sockets.packet === undefined) this.#pushDatagram(datagram);
    else this.#pushFrame(datagram, sockets);
  }

  /** Sends what is queued. Never throws: what the kernel refuses is returned. */
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
    const index = this.#datagramCount++;
    const address = delivery === 'framed-or-broadcast' ? BROADCAST_ADDRESS : destinationAddress;
    writeSockaddrIn(this.#datagrams.names[index] as Buffer, address, destinationPort);
    this.#datagrams.setOutgoing(index, { start: UDP_HEADERS_LENGTH, end: UDP_HEADERS_LENGTH + length }, SOCKADDR_IN_LENGTH);
  }

  #pushFrame(datagram: OutgoingDatagram, { link, port: sourcePort }: SendingSockets): void {
    const { length, sourceAddress, destinationAddress, destinationPort, hardwareAddress } = datagram;
    const payload = this.next();
    const index = this.#frameCount++;
    const packet = this.#frames.buffers[index] as Buffer;
    payload.copy(packet, UDP_HEADERS_LENGTH, 0, length);
    writeUdpHeaders(packet, length, { sourceAddress, sourcePort, destinationAddress, destinationPort });
    writeSockaddrLl(this.#frames.names[index] as Buffer, link, hardwareAddress);
    this.#frames.setOutgoing(index, { start: 0, end: UDP_HEADERS_LENGTH + length }, SOCKADDR_LL_LENGTH);
  }
}

/** Sends the first `count` messages; one that fails is passed over, so that the others are sent all the same. */
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
