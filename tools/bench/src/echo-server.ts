/**
 * `node echo-server.js INTERFACE`: what a DHCP server in Node can reach at most. It reads and sends bursts with the system calls of the agent,
 * through the same kinds of sockets, and does only what a reply needs: it copies a prepared reply of the right type and length, and sets the
 * transaction, the client and the addresses. It decides nothing, looks nothing up, counts nothing, and waits in the system call that reads
 * instead of in an event loop.
 */
import {
  BROADCAST_MAC,
  libc,
  MessageSlab,
  openUdpSocket,
  SOCKADDR_IN_LENGTH,
  SOCKADDR_LL_LENGTH,
  UDP_HEADERS_LENGTH,
  writeSockaddrIn,
  writeSockaddrLl,
} from '@vmdhcp/linux-sockets';
import { addressForEcho, echoTemplates } from './echo-templates.js';

const BURST = 64;
/** Waits for the first datagram, not for more. Source: recvmmsg(2). */
const MSG_WAITFORONE = 0x10000;
const MMSGHDR_LENGTH = 64;
const BROADCAST_ADDRESS = 0xffff_ffff;
const SERVER_PORT = 67;
/** Offsets of fields from the start of a message. Source: RFC 2131 figure 1; type: of an option 53 that comes first. */
const At = { xid: 4, flags: 10, yiaddr: 16, giaddr: 24, chaddr: 28, type: 242 } as const;
/** In the IPv4 header of a frame. Source: RFC 791 §3.1. */
const HEADER_CHECKSUM_AT = 10;
const DESTINATION_AT = 16;
const DISCOVER = 1;

class EchoLoop {
  readonly #received = new MessageSlab({ count: BURST, size: 2048 });
  /** Headers of a frame in front of each message; a datagram begins behind them. */
  readonly #replies = new MessageSlab({ count: BURST, size: 512 });
  readonly #templates = echoTemplates();
  /** MAC address of the client that is answered: a view of the request would be garbage for every packet. */
  readonly #client = new Uint8Array(6);
  readonly #udp: number;
  readonly #packet: number;
  readonly #link: { readonly interfaceIndex: number; readonly etherType: number };

  constructor(interfaceName: string) {
    this.#udp = openUdpSocket(interfaceName, SERVER_PORT);
    this.#packet = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
    this.#link = { interfaceIndex: libc.ifNameToIndex(interfaceName), etherType: libc.ETHERTYPE_IPV4 };
  }

  /** Never returns. */
  run(): never {
    for (;;) {
      const count = libc.recvmmsg(this.#udp, this.#received.headers, BURST, MSG_WAITFORONE, null);
      let at = 0;
      while (at < count) {
        const first = this.#isRelayed(at);
        let end = at;
        // What is relayed and what is not leave through two sockets; a burst of the bench is all the one or all the other.
        while (end < count && this.#isRelayed(end) === first) this.#prepare(end++);
        this.#send(first ? this.#udp : this.#packet, at, end);
        at = end;
      }
    }
  }

  #isRelayed(index: number): boolean {
    return (this.#received.buffers[index] as Buffer).readUInt32BE(At.giaddr) !== 0;
  }

  #prepare(index: number): void {
    const request = this.#received.buffers[index] as Buffer;
    const reply = this.#replies.buffers[index] as Buffer;
    const template = request[At.type] === DISCOVER ? this.#templates.offer : this.#templates.ack;
    reply.set(template);
    const start = UDP_HEADERS_LENGTH;
    const clientAddress = addressForEcho(request, At.chaddr);
    reply.writeUInt32LE(request.readUInt32LE(At.xid), start + At.xid);
    reply.writeUInt16LE(request.readUInt16LE(At.flags), start + At.flags);
    reply.writeUInt32BE(clientAddress, start + At.yiaddr);
    reply.writeUInt32LE(request.readUInt32LE(At.chaddr), start + At.chaddr);
    reply.writeUInt16LE(request.readUInt16LE(At.chaddr + 4), start + At.chaddr + 4);
    const relay = request.readUInt32BE(At.giaddr);
    if (relay === 0) {
      this.#addressFrame(index, clientAddress, template.length);
      return;
    }
    reply.writeUInt32BE(relay, start + At.giaddr);
    writeSockaddrIn(this.#replies.names[index] as Buffer, relay, SERVER_PORT);
    this.#replies.setOutgoing(index, { start, end: template.length }, SOCKADDR_IN_LENGTH);
  }

  #addressFrame(index: number, clientAddress: number, end: number): void {
    const request = this.#received.buffers[index] as Buffer;
    const reply = this.#replies.buffers[index] as Buffer;
    const broadcasts = request[At.flags] !== 0;
    const destination = broadcasts ? BROADCAST_ADDRESS : clientAddress;
    reply.writeUInt32BE(destination, DESTINATION_AT);
    // The template has the sum of the header without the destination. Source: RFC 1071 §2.
    const sum = reply.readUInt16BE(HEADER_CHECKSUM_AT) + (destination >>> 16) + (destination & 0xffff);
    const folded = (sum & 0xffff) + (sum >>> 16);
    reply.writeUInt16BE(~((folded & 0xffff) + (folded >>> 16)) & 0xffff, HEADER_CHECKSUM_AT);
    for (let octet = 0; octet < 6; octet++) this.#client[octet] = request[At.chaddr + octet] as number;
    writeSockaddrLl(this.#replies.names[index] as Buffer, this.#link, broadcasts ? BROADCAST_MAC : this.#client);
    this.#replies.setOutgoing(index, { start: 0, end }, SOCKADDR_LL_LENGTH);
  }

  #send(socket: number, start: number, end: number): void {
    let at = start;
    while (at < end) {
      const headers = at === 0 ? this.#replies.headers : this.#replies.headers.subarray(at * MMSGHDR_LENGTH);
      // What the kernel does not take is lost, as in the agent.
      at += Math.max(libc.sendmmsg(socket, headers, end - at, libc.MSG_DONTWAIT), 1);
    }
  }
}

new EchoLoop(process.argv[2] ?? '').run();
