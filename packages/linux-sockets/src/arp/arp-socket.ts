import { BROADCAST_MAC, type Ipv4Number } from '../ethernet/mac-address.js';
import * as libc from '../libc/libc.js';
import { MessageSlab } from '../libc/message-slab.js';
import { attachFilter } from '../libc/packet-filter.js';
import { readHardwareAddress, SOCKADDR_LL_LENGTH, writeSockaddrLl } from '../libc/socket-address.js';
import { SocketError } from '../libc/socket-error.js';
import { openPacketSocket } from '../packet/open-packet-socket.js';
import { encodeArpFilter, encodeArpRangeFilter } from './arp-filter.js';
import { ARP_LENGTH, type ArpPacket, type ArpRequest, ETHERTYPE_ARP, readArp, writeArpRequest } from './arp-packet.js';

const BURST = 32;
/** The most packets that one call of `receive` reads, so that a flood cannot keep it busy. */
const MOST_BURSTS = 32;
const LARGEST_FRAME = 128;
/** Errors of a system that has no room for the moment. */
const BUSY: ReadonlySet<string> = new Set(['EAGAIN', 'ENOBUFS']);

export interface ReceivedArp extends ArpPacket {
  /** The source address of the frame, six octets. `senderHardwareAddress` is only what the packet claims. */
  readonly frameHardwareAddress: Uint8Array;
}

/** Sends and receives ARP on an interface. Needs CAP_NET_RAW. */
export class ArpSocket {
  /** The interface's own address, six octets. */
  readonly hardwareAddress: Uint8Array;
  readonly #fd: number;
  readonly #interfaceIndex: number;
  readonly #received = new MessageSlab({ count: BURST, size: LARGEST_FRAME });
  /** `struct tpacket_stats`: packets, drops. */
  readonly #statistics = Buffer.alloc(8);
  readonly #statisticsLength = Buffer.alloc(4);
  readonly #sent = new MessageSlab({ count: BURST, size: ARP_LENGTH });
  #hasMissed = false;

  /** @param bufferOctets - room for packets that came in; default: for a burst of ten thousand. @throws SocketError */
  constructor(interfaceName: string, bufferOctets?: number) {
    const { fd, interfaceIndex, hardwareAddress } = openPacketSocket(interfaceName, ETHERTYPE_ARP, bufferOctets);
    this.#fd = fd;
    this.#interfaceIndex = interfaceIndex;
    this.hardwareAddress = hardwareAddress;
  }

  /** Sends a request to every host on the link. @throws SocketError */
  request(request: Omit<ArpRequest, 'senderHardwareAddress'>): void {
    this.#write(0, request);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, libc.MSG_DONTWAIT) < 1) throw new SocketError('send an ARP request');
  }

  /** Asks every host on the link for these addresses. Returns how many were asked for, fewer if the system is busy. @throws SocketError */
  probe(targetAddresses: readonly Ipv4Number[]): number {
    let done = 0;
    while (done < targetAddresses.length) {
      const burst = targetAddresses.slice(done, done + BURST);
      for (const [index, targetAddress] of burst.entries()) this.#write(index, { senderAddress: 0, targetAddress });
      const count = libc.sendmmsg(this.#fd, this.#sent.headers, burst.length, libc.MSG_DONTWAIT);
      if (count < 1 && !BUSY.has(libc.lastErrorName())) throw new SocketError('send an ARP request');
      done += Math.max(count, 0);
      if (count < burst.length) break;
    }
    return done;
  }

  #write(index: number, request: Omit<ArpRequest, 'senderHardwareAddress'>): void {
    writeArpRequest(this.#sent.buffers[index] as Buffer, { ...request, senderHardwareAddress: this.hardwareAddress });
    const target = { interfaceIndex: this.#interfaceIndex, etherType: ETHERTYPE_ARP };
    writeSockaddrLl(this.#sent.names[index] as Buffer, target, BROADCAST_MAC);
    this.#sent.setOutgoing(index, { start: 0, end: ARP_LENGTH }, SOCKADDR_LL_LENGTH);
  }

  /** Accepts only packets of hosts with these addresses, as far as a filter can tell (`encodeArpFilter`), so that a flood of others costs nothing. */
  receiveOnlyFrom(senderAddresses: readonly Ipv4Number[]): void {
    attachFilter(this.#fd, encodeArpFilter(senderAddresses));
  }

  /** Accepts only packets of hosts with an address from the lowest to the highest, whoever they are for. */
  receiveBetween(lowest: Ipv4Number, highest: Ipv4Number): void {
    attachFilter(this.#fd, encodeArpRangeFilter({ lowest, highest }));
  }

  /** True if packets from before the last `receive` were lost, because more came in than the socket has room for. */
  get hasMissed(): boolean {
    return this.#hasMissed;
  }

  /** The packets since the last call, at most 1,024; does not wait. */
  receive(): ReceivedArp[] {
    const packets: ReceivedArp[] = [];
    const isDrained = this.#readInto(packets);
    this.#hasMissed = this.#countDropped() > 0 || !isDrained;
    return packets;
  }

  /** False if there may be more. */
  #readInto(packets: ReceivedArp[]): boolean {
    for (let burst = 0; burst < MOST_BURSTS; burst++) {
      const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
      for (let index = 0; index < count; index++) {
        const packet = readArp((this.#received.buffers[index] as Buffer).subarray(0, this.#received.receivedLength(index)));
        const frameHardwareAddress = readHardwareAddress(this.#received.names[index] as Buffer);
        if (packet !== undefined) packets.push({ ...packet, frameHardwareAddress });
      }
      if (count < BURST) return true;
    }
    return false;
  }

  /** Packets that the kernel had no room for since the last call. */
  #countDropped(): number {
    this.#statisticsLength.writeUInt32LE(this.#statistics.length);
    const { SOL_PACKET, PACKET_STATISTICS } = libc;
    if (libc.getsockopt(this.#fd, SOL_PACKET, PACKET_STATISTICS, this.#statistics, this.#statisticsLength) < 0) return 0;
    return this.#statistics.readUInt32LE(4);
  }

  close(): void {
    libc.close(this.#fd);
  }
}
