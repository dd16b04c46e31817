/**
 * Requests to the kernel's routing socket, each answered before the call returns: a program started for the same (`ip`) would stop the
 * packet path for tens of milliseconds. Source: rtnetlink(7), netlink(7); numbers in the host's order, little-endian here.
 */
import { getSystemErrorName } from 'node:util';
import * as libc from './libc.js';
import { MessageSlab } from './message-slab.js';
import { SocketError } from './socket-error.js';

const AF_NETLINK = 16;
const SOCK_RAW = 3 | 0x80000;
const SOCKADDR_NL_LENGTH = 12;
const HEADER_LENGTH = 16;
const MESSAGE_LENGTH = 256;
const NLMSG_ERROR = 2;
const RTM_NEWLINK = 16;
const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const REQUEST_ACK = 0x1 | 0x4;
const CREATE_OR_REPLACE = 0x400 | 0x100;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_CACHEINFO = 6;
const IFF_UP = 1;

export interface LinkAddress {
  readonly interfaceIndex: number;
  readonly address: number;
  readonly prefixLength: number;
}

/** The kernel said no. */
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
  readonly #fd: number;
  readonly #sent = new MessageSlab({ count: 1, size: MESSAGE_LENGTH });
  readonly #received = new MessageSlab({ count: 1, size: 4_096 });
  #sequence = 0;

  /** @throws SocketError */
  constructor() {
    this.#fd = libc.socket(AF_NETLINK, SOCK_RAW, 0);
    if (this.#fd < 0) throw new SocketError('open a routing socket');
    const name = this.#sent.names[0] as Buffer;
    name.fill(0);
    name.writeUInt16LE(AF_NETLINK, 0);
  }

  /** Gives an interface an address for so many seconds from now, or prolongs it. @throws NetlinkError */
  leaseAddress(address: LinkAddress, seconds: number): void {
    const cacheInfo = Buffer.alloc(16);
    cacheInfo.writeUInt32LE(seconds, 0);
    cacheInfo.writeUInt32LE(seconds, 4);
    const attributes = [...addressAttributes(address), [IFA_CACHEINFO, cacheInfo] as const];
    this.#request('give the address', RTM_NEWADDR, { flags: CREATE_OR_REPLACE, body: addressBody(address), attributes });
  }

  /** @throws NetlinkError; with code EADDRNOTAVAIL the interface does not have it. */
  deleteAddress(address: LinkAddress): void {
    const attributes = addressAttributes(address);
    this.#request('take the address away', RTM_DELADDR, { flags: 0, body: addressBody(address), attributes });
  }

  /** @throws NetlinkError */
  setUp(interfaceIndex: number): void {
    const body = Buffer.alloc(16);
    body.writeInt32LE(interfaceIndex, 4);
    body.writeUInt32LE(IFF_UP, 8);
    body.writeUInt32LE(IFF_UP, 12);
    this.#request('bring the interface up', RTM_NEWLINK, { flags: 0, body, attributes: [] });
  }

  close(): void {
    libc.close(this.#fd);
  }

  #request(what: string, type: number, { flags, body, attributes }: Request): void {
    const message = this.#sent.buffers[0] as Buffer;
    let length = HEADER_LENGTH + body.copy(message, HEADER_LENGTH);
    for (const [attribute, value] of attributes) {
      message.writeUInt16LE(4 + value.length, length);
      message.writeUInt16LE(attribute, length + 2);
      value.copy(message, length + 4);
      length += 4 + value.length;
    }
    this.#sequence++;
    message.writeUInt32LE(length, 0);
    message.writeUInt16LE(type, 4);
    message.writeUInt16LE(REQUEST_ACK | flags, 6);
    message.writeUInt32LE(this.#sequence, 8);
    message.writeUInt32LE(0, 12);
    this.#sent.setOutgoing(0, { start: 0, end: length }, SOCKADDR_NL_LENGTH);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, 0) < 1) throw new SocketError(what);
    const errorNumber = this.#answer(what);
    if (errorNumber !== 0) throw new NetlinkError(what, errorNumber);
  }

  /** The error number of the answer to the last request; 0: it was done. What is left of earlier ones is passed over. */
  #answer(what: string): number {
    for (;;) {
      if (libc.recvmmsg(this.#fd, this.#received.headers, 1, libc.MSG_DONTWAIT, null) < 1) throw new SocketError(what);
      const answer = this.#received.buffers[0] as Buffer;
      if (answer.readUInt16LE(4) === NLMSG_ERROR && answer.readUInt32LE(8) === this.#sequence)
        return -answer.readInt32LE(HEADER_LENGTH);
    }
  }
}

interface Request {
  readonly flags: number;
  readonly body: Buffer;
  readonly attributes: readonly (readonly [type: number, value: Buffer])[];
}

function addressBody({ interfaceIndex, prefixLength }: LinkAddress): Buffer {
  const body = Buffer.alloc(8);
  body.writeUInt8(libc.AF_INET, 0);
  body.writeUInt8(prefixLength, 1);
  body.writeUInt32LE(interfaceIndex, 4);
  return body;
}

function addressAttributes({ address }: LinkAddress): Request['attributes'] {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(address, 0);
  return [
    [IFA_LOCAL, octets],
    [IFA_ADDRESS, octets],
  ];
}
