import dgram from 'node:dgram';
import { growReceiveBuffer, growSendBuffer, libc, MessageSlab, SocketError, setSocketNumber } from '@vmdhcp/linux-sockets';
import type { DhcpPacketHandler } from './dhcp-packet-handler.js';

import { ReplyQueue, type ReplySockets, type SendFailure } from './reply-queue.js';

const RECEIVE_BURST = 64;
/** Bursts read before other interfaces get their turn. */
const BURSTS_PER_TURN = 4;
/** More than an Ethernet frame holds, so that an oversized packet is seen as what it is. */
const LARGEST_PACKET = 2048;
const SERVER_PORT = 67;

/** Memory that all ports of the process share: a burst is read, answered and sent before the next one begins. */
const received = new MessageSlab({ count: RECEIVE_BURST, size: LARGEST_PACKET });
const replies = new ReplyQueue();

export interface DhcpPortEvents {
  readonly onSendFailure: (failure: SendFailure) => void;
  /** The socket failed after it was opened. */
  readonly onError: (error: Error) => void;
  /** Nanoseconds from reading a burst to having answered it, and how many packets it held. */
  readonly onBurst: (durationNs: number, packets: number) => void;
}

/**
 * UDP port 67 of one interface.
 *
 * Node's dgram tells when packets are there; the rest of the burst is then drained with `recvmmsg` and answered with one
 * `sendmmsg`, which serves several times as many clients as a datagram at a time. dgram owns the socket once it has it.
 */
export class DhcpPort {
  readonly interfaceName: string;
  readonly #sockets: ReplySockets;
  readonly #dgram: dgram.Socket;
  readonly #handler: DhcpPacketHandler;
  readonly #events: DhcpPortEvents;
  #closed = false;

  /** Opens the port. @throws SocketError with code EPERM, EADDRINUSE, ENODEV, ... */
  static async open(interfaceName: string, handler: DhcpPacketHandler, events: DhcpPortEvents): Promise<DhcpPort> {
    const interfaceIndex = libc.ifNameToIndex(interfaceName);
    if (interfaceIndex === 0) throw new SocketError(`find interface ${interfaceName}`);
    const udp = openUdpSocket(interfaceName);
    const port = new DhcpPort({ interfaceName, sockets: { udp, packet: openPacketSocket(), interfaceIndex } }, handler, events);
    await new Promise<void>((resolve, reject) => {
      port.#dgram.once('error', reject);
      port.#dgram.bind({ fd: udp }, () => {
        port.#dgram.off('error', reject);
        resolve();
      });
    });
    port.#dgram.on('error', (error) => events.onError(error));
    return port;
  }

  private constructor(
    opened: { readonly interfaceName: string; readonly sockets: ReplySockets },
    handler: DhcpPacketHandler,
    events: DhcpPortEvents,
  ) {
    this.interfaceName = opened.interfaceName;
    this.#sockets = opened.sockets;
    this.#handler = handler;
    this.#events = events;
    this.#dgram = dgram.createSocket('udp4');
    this.#dgram.on('message', (packet) => this.#serveBurst(packet));
  }

  /** The interface as it was when the port was opened; another one of the same name has another index. */
  get interfaceIndex(): number {
    return this.#sockets.interfaceIndex;
  }

  /** False if replies to clients without an address are broadcast, for want of CAP_NET_RAW. */
  get sendsFrames(): boolean {
    return this.#sockets.packet !== undefined;
  }

  /** Answers a packet that came in before, as if it came in now. */
  inject(packet: Uint8Array): void {
    if (this.#closed) return;
    this.#answer(packet);
    this.#flush();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#dgram.close();
    if (this.#sockets.packet !== undefined) libc.close(this.#sockets.packet);
  }

  #serveBurst(first: Uint8Array): void {
    if (this.#closed) return;
    const startedAt = process.hrtime.bigint();
    this.#answer(first);
    let packets = 1;
    for (let burst = 0; burst < BURSTS_PER_TURN; burst++) {
      const count = libc.recvmmsg(this.#sockets.udp, received.headers, RECEIVE_BURST, libc.MSG_DONTWAIT, null);
      for (let index = 0; index < count; index++) {
        this.#answer((received.buffers[index] as Buffer).subarray(0, received.receivedLength(index)));
      }
      packets += Math.max(count, 0);
      this.#flush();
      if (count < RECEIVE_BURST) break;
    }
    this.#events.onBurst(Number(process.hrtime.bigint() - startedAt), packets);
  }

  #answer(packet: Uint8Array): void {
    if (replies.isFull) this.#flush();
    const reply = this.#handler(packet, replies.next());
    if (reply !== undefined) replies.push(reply, this.#sockets);
  }

  #flush(): void {
    const failure = replies.flush(this.#sockets);
    if (failure !== undefined) this.#events.onSendFailure(failure);
  }
}

function openUdpSocket(interfaceName: string): number {
  const fd = libc.socket(libc.AF_INET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a UDP socket');
  const device = Buffer.from(`${interfaceName}\0`);
  try {
    // No SO_REUSEADDR: a second DHCP server on the interface is an error to report, not a neighbour.
    setSocketNumber(fd, libc.SO_BROADCAST, 1);
    if (libc.setsockopt(fd, libc.SOL_SOCKET, libc.SO_BINDTODEVICE, device, device.length) < 0) {
      throw new SocketError(`bind a socket to interface ${interfaceName}`);
    }
    growReceiveBuffer(fd);
    growSendBuffer(fd);
    const name = Buffer.alloc(16);
    name.writeUInt16LE(libc.AF_INET, 0);
    name.writeUInt16BE(SERVER_PORT, 2);
    if (libc.bind(fd, name, name.length) < 0) throw new SocketError(`bind UDP port ${SERVER_PORT} on ${interfaceName}`);
    return fd;
  } catch (error) {
    libc.close(fd);
    throw error;
  }
}

/** A socket that only sends: protocol 0 receives nothing. */
function openPacketSocket(): number | undefined {
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  return fd < 0 ? undefined : fd;
}
