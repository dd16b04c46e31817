/**
 * Memory for a burst of datagrams, laid out as `recvmmsg` and `sendmmsg` want it: `struct mmsghdr` with one `iovec` and one
 * socket address each. Everything is allocated once; a burst costs one system call and no garbage.
 *
 * Layout on 64-bit Linux: mmsghdr is 64 octets (msghdr 56: name 0, namelen 8, iov 16, iovlen 24, control 32, controllen 40,
 * flags 48; then the message's length at 56); iovec is 16 (base 0, length 8).
 */
import { addressOf } from './libc.js';

const MMSGHDR = 64;
const IOVEC = 16;
const NAME = 32;
const MESSAGE_LENGTH_AT = 56;

export interface SlabShape {
  /** Datagrams in one burst. */
  readonly count: number;
  /** Octets for each. */
  readonly size: number;
}

export class MessageSlab {
  readonly count: number;
  /** The `mmsghdr` array to hand to the system call. */
  readonly headers: Buffer;
  /** Where the octets of each datagram lie. */
  readonly buffers: readonly Buffer[];
  /** The socket address of each datagram: `sockaddr_in` or `sockaddr_ll`. */
  readonly names: readonly Buffer[];
  readonly #iovecs: Buffer;
  /** Addresses of a process fit a double exactly. */
  readonly #base: number;
  readonly #size: number;

  constructor({ count, size }: SlabShape) {
    this.count = count;
    this.#size = size;
    this.headers = Buffer.allocUnsafeSlow(count * MMSGHDR).fill(0);
    this.#iovecs = Buffer.allocUnsafeSlow(count * IOVEC).fill(0);
    const octets = Buffer.allocUnsafeSlow(count * size).fill(0);
    const names = Buffer.allocUnsafeSlow(count * NAME).fill(0);
    this.buffers = Array.from({ length: count }, (_, index) => octets.subarray(index * size, (index + 1) * size));
    this.names = Array.from({ length: count }, (_, index) => names.subarray(index * NAME, (index + 1) * NAME));
    this.#base = Number(addressOf(octets));
    const nameBase = addressOf(names);
    const iovecBase = addressOf(this.#iovecs);
    for (let index = 0; index < count; index++) {
      this.headers.writeBigUInt64LE(nameBase + BigInt(index * NAME), index * MMSGHDR);
      this.headers.writeUInt32LE(NAME, index * MMSGHDR + 8);
      this.headers.writeBigUInt64LE(iovecBase + BigInt(index * IOVEC), index * MMSGHDR + 16);
      this.headers.writeBigUInt64LE(1n, index * MMSGHDR + 24);
      this.#iovecs.writeBigUInt64LE(BigInt(this.#base + index * size), index * IOVEC);
      this.#iovecs.writeBigUInt64LE(BigInt(size), index * IOVEC + 8);
    }
  }

  /** How many octets of datagram `index` the last `recvmmsg` filled. */
  receivedLength(index: number): number {
    return this.headers.readUInt32LE(index * MMSGHDR + MESSAGE_LENGTH_AT);
  }

  /** Makes datagram `index` the octets from `start` to `end` of its buffer, and its address `nameLength` octets long. */
  setOutgoing(index: number, span: { readonly start: number; readonly end: number }, nameLength: number): void {
    const at = index * IOVEC;
    const address = this.#base + index * this.#size + span.start;
    this.#iovecs.writeUInt32LE(address % 0x1_0000_0000, at);
    this.#iovecs.writeUInt32LE(Math.floor(address / 0x1_0000_0000), at + 4);
    this.#iovecs.writeUInt32LE(span.end - span.start, at + 8);
    this.headers.writeUInt32LE(nameLength, index * MMSGHDR + 8);
  }
}
