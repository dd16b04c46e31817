/**
 * Requests to the kernel's routing socket, each answered before the call returns. Running the program `ip` instead would block the event loop for
 * tens of milliseconds. Source: rtnetlink(7), netlink(7).
 */
import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import { SocketError } from '../libc/socket-error.js';
import { encodeUint32 } from './netlink-attributes.js';
import { NetlinkError } from './netlink-error.js';
import { type NetlinkAnswer, type NetlinkRequest, NLM_F_DUMP, readAnswers, writeRequest } from './netlink-message.js';

const AF_NETLINK = 16;
const SOCK_RAW = 3 | 0x80000;
const SOCKADDR_NL_LENGTH = 12;
const LARGEST_REQUEST = 512;
/** The description of an interface takes one or two thousand octets. */
const LARGEST_ANSWER = 16_384;
const SOL_NETLINK = 270;
const NETLINK_GET_STRICT_CHK = 12;

/** A routing socket of the kernel (`AF_NETLINK`). Each request is answered before the call returns. */
export class Netlink {
  static #shared: Netlink | undefined;
  readonly #fd: number;
  readonly #sent = new MessageSlab({ count: 1, size: LARGEST_REQUEST });
  readonly #received = new MessageSlab({ count: 1, size: LARGEST_ANSWER });
  #sequence = 0;

  /** One socket for the whole process, because each request is over when its call returns. @throws SocketError */
  static shared(): Netlink {
    Netlink.#shared ??= new Netlink();
    return Netlink.#shared;
  }

  /** @throws SocketError */
  constructor() {
    this.#fd = libc.socket(AF_NETLINK, SOCK_RAW, 0);
    if (this.#fd < 0) throw new SocketError('open a routing socket');
    // Makes the kernel filter lists; kernels before 4.20 leave that to the reader.
    libc.setsockopt(this.#fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, encodeUint32(1), 4);
    const address = this.#sent.names[0] as Buffer;
    address.fill(0);
    address.writeUInt16LE(AF_NETLINK, 0);
  }

  /**
   * Asks the kernel to change or describe something.
   * @param action - for the error: `add the address`.
   * @returns the descriptions: messages without their headers; empty after a change.
   * @throws NetlinkError, SocketError
   */
  request(action: string, request: NetlinkRequest): Buffer[] {
    this.#sequence++;
    const length = writeRequest(this.#sent.buffers[0] as Buffer, request, this.#sequence);
    this.#sent.setOutgoing(0, { start: 0, end: length }, SOCKADDR_NL_LENGTH);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, 0) < 1) throw new SocketError(action);
    const described: Buffer[] = [];
    for (const answer of this.#answers(action)) {
      if (answer.kind === 'data') {
        described.push(Buffer.from(answer.payload));
        continue;
      }
      if (answer.errorNumber !== 0) throw new NetlinkError(action, answer.errorNumber);
      break;
    }
    return described;
  }

  /** Everything of a kind, as `request` returns it; some of it may be of another family. @throws NetlinkError, SocketError */
  list(action: string, request: Omit<NetlinkRequest, 'flags'>): Buffer[] {
    return this.request(action, { ...request, flags: NLM_F_DUMP });
  }

  close(): void {
    libc.close(this.#fd);
  }

  /** The answers to the last request, without the end message. Late answers to earlier requests are skipped. */
  *#answers(action: string): Generator<NetlinkAnswer> {
    for (;;) {
      if (libc.recvmmsg(this.#fd, this.#received.headers, 1, libc.MSG_DONTWAIT, null) < 1) throw new SocketError(action);
      const datagram = (this.#received.buffers[0] as Buffer).subarray(0, this.#received.receivedLength(0));
      for (const answer of readAnswers(datagram)) if (answer.sequence === this.#sequence) yield answer;
    }
  }
}
