/**
 * Requests to the kernel's routing socket, each answered before the call returns: a program started for the same (`ip`) would stop the
 * packet path for tens of milliseconds. Source: rtnetlink(7), netlink(7); numbers in the host's order, little-endian here.
 */
import { getSystemErrorName } from 'node:util';
import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import { SocketError } from '../libc/socket-error.js';
import { encodeAttributes, ipv4, type NetlinkAttribute, uint32 } from './netlink-attributes.js';

const AF_NETLINK = 16;
const SOCK_RAW = 3 | 0x80000;
const SOCKADDR_NL_LENGTH = 12;
const HEADER_LENGTH = 16;
const MESSAGE_LENGTH = 512;
/** The kernel's description of an interface has one or two thousand octets. */
const ANSWER_LENGTH = 16_384;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const NLM_F_DUMP = 0x300;
const SOL_NETLINK = 270;
const NETLINK_GET_STRICT_CHK = 12;
const RTM_NEWLINK = 16;
const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const REQUEST_ACK = 0x1 | 0x4;
const CREATE_OR_REPLACE = 0x400 | 0x100;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_CACHEINFO = 6;
const IFA_FLAGS = 8;
const IFA_F_NOPREFIXROUTE = 0x200;
const IFF_UP = 1;

export interface LinkAddress {
  readonly interfaceIndex: number;
  readonly address: number;
  readonly prefixLength: number;
}

/** How long an address stays, and what comes with it. */
export interface AddressTerms {
  readonly seconds: number;
  /** True: the kernel adds a route to the address's network. An address that is there already keeps what it has. */
  readonly prefixRoute: boolean;
}

export interface NetlinkRequest {
  /** `RTM_...` */
  readonly type: number;
  /** Besides `NLM_F_REQUEST` and `NLM_F_ACK`; none by default. */
  readonly flags?: number;
  /** The structure that messages of this type begin with. */
  readonly body: Buffer;
  readonly attributes: readonly NetlinkAttribute[];
}

/** The kernel refused. */
export class NetlinkError extends Error {
  /** `ENODEV`, `EPERM`, ... */
  readonly code: string;

  constructor(what: string, errorNumber: number) {
    const code = getSystemErrorName(-errorNumber);
    super(`cannot ${what}: ${code}${code === 'EPERM' ? '; grant CAP_NET_ADMIN' : ''}`);
    this.code = code;
  }
}

export class Netlink {
  static #shared: Netlink | undefined;
  readonly #fd: number;
  readonly #sent = new MessageSlab({ count: 1, size: MESSAGE_LENGTH });
  readonly #received = new MessageSlab({ count: 1, size: ANSWER_LENGTH });
  #sequence = 0;

  /** One for the whole process, as each request is over when its call returns. @throws SocketError */
  static shared(): Netlink {
    Netlink.#shared ??= new Netlink();
    return Netlink.#shared;
  }

  /** @throws SocketError */
  constructor() {
    this.#fd = libc.socket(AF_NETLINK, SOCK_RAW, 0);
    if (this.#fd < 0) throw new SocketError('open a routing socket');
    // Lists have only what was asked for; a kernel before 4.20 leaves that to who reads them.
    libc.setsockopt(this.#fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, uint32(1), 4);
    const name = this.#sent.names[0] as Buffer;
    name.fill(0);
    name.writeUInt16LE(AF_NETLINK, 0);
  }

  /** Gives an interface an address for so many seconds from now, or prolongs it. @throws NetlinkError */
  leaseAddress(address: LinkAddress, { seconds, prefixRoute }: AddressTerms): void {
    const cacheInfo = Buffer.alloc(16);
    cacheInfo.writeUInt32LE(seconds, 0);
    cacheInfo.writeUInt32LE(seconds, 4);
    const flags = Buffer.alloc(4);
    flags.writeUInt32LE(prefixRoute ? 0 : IFA_F_NOPREFIXROUTE);
    const attributes = [...addressAttributes(address), [IFA_CACHEINFO, cacheInfo] as const, [IFA_FLAGS, flags] as const];
    const body = addressBody(address);
    this.request('add the address', { type: RTM_NEWADDR, flags: CREATE_OR_REPLACE, body, attributes });
  }

  /** @throws NetlinkError; with code EADDRNOTAVAIL the interface does not have it. */
  deleteAddress(address: LinkAddress): void {
    const attributes = addressAttributes(address);
    this.request('remove the address', { type: RTM_DELADDR, body: addressBody(address), attributes });
  }

  /** @throws NetlinkError */
  setUp(interfaceIndex: number): void {
    const body = Buffer.alloc(16);
    body.writeInt32LE(interfaceIndex, 4);
    body.writeUInt32LE(IFF_UP, 8);
    body.writeUInt32LE(IFF_UP, 12);
    this.request('bring the interface up', { type: RTM_NEWLINK, body, attributes: [] });
  }

  /**
   * Sends the kernel a request for a change or for data.
   * @param what - for the error: `add the address`.
   * @returns its messages without their headers; none after a change.
   * @throws NetlinkError, SocketError
   */
  request(what: string, { type, flags = 0, body, attributes }: NetlinkRequest): Buffer[] {
    const message = this.#sent.buffers[0] as Buffer;
    const content = encodeAttributes(attributes);
    let length = HEADER_LENGTH + body.copy(message, HEADER_LENGTH);
    length += content.copy(message, length);
    this.#sequence++;
    message.writeUInt32LE(length, 0);
    message.writeUInt16LE(type, 4);
    message.writeUInt16LE(REQUEST_ACK | flags, 6);
    message.writeUInt32LE(this.#sequence, 8);
    message.writeUInt32LE(0, 12);
    this.#sent.setOutgoing(0, { start: 0, end: length }, SOCKADDR_NL_LENGTH);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, 0) < 1) throw new SocketError(what);
    return this.#answers(what);
  }

  /** All that there is of something, as `request` returns it; some of it may be of another family. @throws NetlinkError, SocketError */
  list(what: string, request: Omit<NetlinkRequest, 'flags'>): Buffer[] {
    return this.request(what, { ...request, flags: NLM_F_DUMP });
  }

  close(): void {
    libc.close(this.#fd);
  }

  /** Up to the acknowledgement of the last request, or the end of a list. */
  #answers(what: string): Buffer[] {
    const answers: Buffer[] = [];
    for (const message of this.#messages(what)) {
      const type = message.readUInt16LE(4);
      const errorNumber = type === NLMSG_ERROR || type === NLMSG_DONE ? -message.readInt32LE(HEADER_LENGTH) : undefined;
      if (errorNumber === 0) break;
      if (errorNumber !== undefined) throw new NetlinkError(what, errorNumber);
      answers.push(Buffer.from(message.subarray(HEADER_LENGTH)));
    }
    return answers;
  }

  /** The kernel's messages about the last request, without end. Those about earlier ones are skipped. */
  *#messages(what: string): Generator<Buffer> {
    for (;;) {
      if (libc.recvmmsg(this.#fd, this.#received.headers, 1, libc.MSG_DONTWAIT, null) < 1) throw new SocketError(what);
      const datagram = (this.#received.buffers[0] as Buffer).subarray(0, this.#received.receivedLength(0));
      for (const message of messagesIn(datagram)) if (message.readUInt32LE(8) === this.#sequence) yield message;
    }
  }
}

/** The messages of a datagram, each with its header and padded to four octets. */
function* messagesIn(datagram: Buffer): Generator<Buffer> {
  for (let at = 0; at + HEADER_LENGTH <= datagram.length; ) {
    const length = Math.max(HEADER_LENGTH, datagram.readUInt32LE(at));
    yield datagram.subarray(at, at + length);
    at += (length + 3) & ~3;
  }
}

function addressBody({ interfaceIndex, prefixLength }: LinkAddress): Buffer {
  const body = Buffer.alloc(8);
  body.writeUInt8(libc.AF_INET, 0);
  body.writeUInt8(prefixLength, 1);
  body.writeUInt32LE(interfaceIndex, 4);
  return body;
}

function addressAttributes({ address }: LinkAddress): NetlinkAttribute[] {
  return [
    [IFA_LOCAL, ipv4(address)],
    [IFA_ADDRESS, ipv4(address)],
  ];
}
