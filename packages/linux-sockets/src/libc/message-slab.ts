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
/** In words of four octets. */
const HEADER_WORDS = MMSGHDR / 4;
const IOVEC_WORDS = IOVEC / 4;
const NAME_LENGTH_WORD = 2;
const MESSAGE_LENGTH_WORD = 14;
/** How many views of one datagram are kept, by length: a flood has few lengths. */
const VIEWS = 16;

export interface SlabShape {
  /** Datagrams in one burst. */
  readonly count: number;
  /** The octets for each datagram. */
  readonly size: number;
}

/** Memory for a burst of datagrams, allocated once, as `recvmmsg` and `sendmmsg` read and write it. */
export class MessageSlab {
  readonly count: number;
  /** The `mmsghdr` array to hand to the system call. */
  readonly headers: Buffer;
  /** The octets of each datagram. */
  readonly buffers: readonly Buffer[];
  /** The socket address of each datagram: `sockaddr_in` or `sockaddr_ll`. */
  readonly names: readonly Buffer[];
  /** The octets of all datagrams, one after the other. */
  readonly #octets: Buffer;
  /** `headers` as words: stores into typed arrays are much quicker than methods of Buffer. */
  readonly #headerWords: Uint32Array;
  readonly #iovecs: Buffer;
  readonly #iovecWords: Uint32Array;
  /** Where each datagram starts in its buffer. */
  readonly #starts: Int32Array;
  readonly #views: (Buffer | undefined)[];
  /** Addresses of a process fit a double exactly. */
  readonly #base: number;
  readonly #size: number;

  /**
   * @param octetsOf - a slab of the same shape whose octets this one shares, so that a datagram that may leave through either socket is written once.
   */
  constructor({ count, size }: SlabShape, octetsOf?: MessageSlab) {
    this.count = count;
    this.#size = size;
    this.headers = Buffer.allocUnsafeSlow(count * MMSGHDR).fill(0);
    this.#headerWords = wordsOf(this.headers);
    this.#iovecs = Buffer.allocUnsafeSlow(count * IOVEC).fill(0);
    this.#iovecWords = wordsOf(this.#iovecs);
    this.#starts = new Int32Array(count);
    this.#views = Array.from({ length: count * VIEWS });
    const octets = octetsOf === undefined ? Buffer.allocUnsafeSlow(count * size).fill(0) : octetsOf.#octets;
    const names = Buffer.allocUnsafeSlow(count * NAME).fill(0);
    this.#octets = octets;
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
    return this.#headerWords[index * HEADER_WORDS + MESSAGE_LENGTH_WORD] as number;
  }

  /** The octets of datagram `index` that the last `recvmmsg` filled; they change with the next one. */
  received(index: number): Buffer {
    const length = this.receivedLength(index);
    const at = index * VIEWS + (length % VIEWS);
    const known = this.#views[at];
    if (known !== undefined && known.length === length) return known;
    const view = (this.buffers[index] as Buffer).subarray(0, length);
    this.#views[at] = view;
    return view;
  }

  /**
   * Makes datagram `index` the octets from `start` to `end` of its buffer, and its address `nameLength` octets long. A start outside its buffer lies
   * in the buffer of another datagram.
   */
  setOutgoing(index: number, span: { readonly start: number; readonly end: number }, nameLength: number): void {
    const at = index * IOVEC_WORDS;
    if (this.#starts[index] !== span.start) {
      this.#starts[index] = span.start;
      const address = this.#base + index * this.#size + span.start;
      this.#iovecWords[at] = address % 0x1_0000_0000;
      this.#iovecWords[at + 1] = Math.floor(address / 0x1_0000_0000);
    }
    this.#iovecWords[at + 2] = span.end - span.start;
    this.#headerWords[index * HEADER_WORDS + NAME_LENGTH_WORD] = nameLength;
  }
}

/** Linux on x64 and arm64 is little-endian, as typed arrays are there. */
function wordsOf(memory: Buffer): Uint32Array {
  return new Uint32Array(memory.buffer, memory.byteOffset, memory.length / 4);
}
