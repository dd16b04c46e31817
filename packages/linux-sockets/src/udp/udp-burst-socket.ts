import dgram from 'node:dgram';
import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import { SocketError } from '../libc/socket-error.js';
import { openUdpSocket } from './open-udp-socket.js';
import { OutgoingBurst, type SendFailure, type SendingSockets } from './outgoing-burst.js';
import type { OutgoingDatagram } from './outgoing-datagram.js';
import { CurrentSender, type Sender } from './sender.js';

const RECEIVE_BURST = 64;
/** How many bursts are read before other sockets get their turn. */
const BURSTS_PER_TURN = 4;
/** Larger than an Ethernet frame, so that a datagram that is too large can be recognized. */
const LARGEST_DATAGRAM = 2048;

/**
 * Answers one datagram: writes the payload of the answer to the start of `into` (1472 octets) and returns where it goes, or undefined for no answer.
 * Must not throw. `datagram` and `sender` are valid only during the call; the result is read before the next call.
 */
export type DatagramHandler = (datagram: Uint8Array, into: Buffer, sender: Sender) => OutgoingDatagram | undefined;

/** The interface and the port of a socket, and who handles its packets. */
export interface UdpBurstSocketSettings {
  readonly interfaceName: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly handler: DatagramHandler;
  /** The kernel refused answers; their receivers must ask again. */
  readonly onSendFailure?: (failure: SendFailure) => void;
  /** The socket failed after it was opened. */
  readonly onError: (error: Error) => void;
  /** Nanoseconds from reading a burst to having answered it, and how many datagrams it had. */
  readonly onBurst?: (durationNs: number, datagrams: number) => void;
}

/** Memory that all sockets of the process share: a burst is read, answered and sent before the next one begins. */
interface SharedMemory {
  readonly received: MessageSlab;
  readonly outgoing: OutgoingBurst;
  readonly sender: CurrentSender;
}

let shared: SharedMemory | undefined;

function sharedMemory(): SharedMemory {
  shared ??= {
    received: new MessageSlab({ count: RECEIVE_BURST, size: LARGEST_DATAGRAM }),
    outgoing: new OutgoingBurst(),
    sender: new CurrentSender(),
  };
  return shared;
}

/**
 * A UDP port of one interface that answers datagrams in bursts.
 *
 * Node's dgram reports the first datagram; the rest of the burst is then read with `recvmmsg` and answered with one `sendmmsg`, which serves several
 * times as many clients as one datagram at a time. dgram owns the socket once it has it.
 */
export class UdpBurstSocket {
  readonly interfaceName: string;
  readonly #sockets: SendingSockets;
  readonly #dgram: dgram.Socket;
  readonly #settings: UdpBurstSocketSettings;
  readonly #handler: DatagramHandler;
  readonly #received: MessageSlab;
  readonly #outgoing: OutgoingBurst;
  readonly #sender: CurrentSender;
  #isClosed = false;

  /** Needs CAP_NET_BIND_SERVICE for ports below 1024, and CAP_NET_RAW to send frames. @throws SocketError with code EPERM, EADDRINUSE, ENODEV, ... */
  static async open(settings: UdpBurstSocketSettings): Promise<UdpBurstSocket> {
    const { interfaceName, port } = settings;
    const interfaceIndex = libc.ifNameToIndex(interfaceName);
    if (interfaceIndex === 0) throw new SocketError(`find interface ${interfaceName}`);
    const udp = openUdpSocket(interfaceName, port);
    const reader = dgram.createSocket('udp4');
    await new Promise<void>((resolve, reject) => {
      reader.once('error', reject);
      reader.bind({ fd: udp }, () => {
        reader.off('error', reject);
        resolve();
      });
    }).catch((error: unknown) => {
      libc.close(udp);
      throw error;
    });
    const link = { interfaceIndex, etherType: libc.ETHERTYPE_IPV4 };
    const sockets = { udp, port: reader.address().port, packet: openSendingPacketSocket(), link };
    return new UdpBurstSocket(settings, sockets, reader);
  }

  private constructor(settings: UdpBurstSocketSettings, sockets: SendingSockets, reader: dgram.Socket) {
    const { received, outgoing, sender } = sharedMemory();
    this.interfaceName = settings.interfaceName;
    this.#settings = settings;
    this.#handler = settings.handler;
    this.#sockets = sockets;
    this.#received = received;
    this.#outgoing = outgoing;
    this.#sender = sender;
    this.#dgram = reader;
    reader.on('message', (datagram, from) => this.#serveBurst(datagram, from));
    reader.on('error', (error) => settings.onError(error));
  }

  /** The interface as it was when the socket was opened; another one of the same name has another index. */
  get interfaceIndex(): number {
    return this.#sockets.link.interfaceIndex;
  }

  /** The port it is bound to. */
  get port(): number {
    return this.#sockets.port;
  }

  /** False if datagrams and broadcasts replace frames, because CAP_NET_RAW is missing. */
  get sendsFrames(): boolean {
    return this.#sockets.packet !== undefined;
  }

  /** Answers a datagram that was received earlier, as if it came in now, from 0.0.0.0. */
  inject(datagram: Uint8Array): void {
    if (this.#isClosed) return;
    this.#sender.set(undefined);
    this.#answer(datagram);
    this.#flush();
  }

  /** Sends these datagrams, which are not answers. @param datagrams - each is read when its turn comes. */
  send(datagrams: Iterable<{ readonly payload: Uint8Array; readonly datagram: OutgoingDatagram }>): void {
    if (this.#isClosed) return;
    for (const { payload, datagram } of datagrams) {
      if (this.#outgoing.isFull) this.#flush();
      this.#outgoing.next().set(payload);
      this.#outgoing.push(datagram, this.#sockets);
    }
    this.#flush();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dgram.close();
    if (this.#sockets.packet !== undefined) libc.close(this.#sockets.packet);
  }

  #serveBurst(first: Uint8Array, from: dgram.RemoteInfo): void {
    if (this.#isClosed) return;
    const startedAt = process.hrtime.bigint();
    this.#sender.set(from);
    this.#answer(Buffer.from(first.buffer, first.byteOffset, first.length));
    let datagrams = 1;
    const { headers, names } = this.#received;
    for (let burst = 0; burst < BURSTS_PER_TURN; burst++) {
      const count = libc.recvmmsg(this.#sockets.udp, headers, RECEIVE_BURST, libc.MSG_DONTWAIT, null);
      for (let index = 0; index < count; index++) {
        this.#sender.set(names[index]);
        this.#answer(this.#received.received(index));
      }
      datagrams += Math.max(count, 0);
      this.#flush();
      // More arrived while replies were sent. Let the event loop report them: until then they gather into one burst.
      if (count < RECEIVE_BURST) break;
    }
    this.#settings.onBurst?.(Number(process.hrtime.bigint() - startedAt), datagrams);
  }

  #answer(datagram: Uint8Array): void {
    const outgoing = this.#outgoing;
    if (outgoing.isFull) this.#flush();
    const handler = this.#handler;
    const answer = handler(datagram, outgoing.next(), this.#sender);
    if (answer !== undefined) outgoing.push(answer, this.#sockets);
  }

  #flush(): void {
    const failure = this.#outgoing.flush(this.#sockets);
    if (failure !== undefined) this.#settings.onSendFailure?.(failure);
  }
}

/** A socket that only sends: protocol 0 receives nothing. Undefined without CAP_NET_RAW. */
function openSendingPacketSocket(): number | undefined {
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  return fd < 0 ? undefined : fd;
}
