import { ARP_LENGTH, type ArpPacket, type ArpRequest, ETHERTYPE_ARP, readArp, writeArpRequest } from './arp.js';
import * as libc from './libc.js';
import { MessageSlab } from './message-slab.js';
import { writeLinkName } from './reply-queue.js';
import { SocketError } from './socket-error.js';

const BURST = 32;
const LARGEST_FRAME = 128;
const SOCKADDR_LL_LENGTH = 20;
const BROADCAST_MAC = Buffer.alloc(6, 0xff);

/** Sends and receives ARP on an interface. Needs CAP_NET_RAW. */
export class ArpSocket {
  /** The interface's own, six octets. */
  readonly hardwareAddress: Uint8Array;
  readonly #fd: number;
  readonly #interfaceIndex: number;
  readonly #received = new MessageSlab({ count: BURST, size: LARGEST_FRAME });
  readonly #sent = new MessageSlab({ count: 1, size: ARP_LENGTH });

  /** @throws SocketError */
  constructor(interfaceName: string) {
    this.#interfaceIndex = libc.ifNameToIndex(interfaceName);
    if (this.#interfaceIndex === 0) throw new SocketError(`find interface ${interfaceName}`);
    this.#fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
    if (this.#fd < 0) throw new SocketError('open a packet socket');
    const name = Buffer.alloc(SOCKADDR_LL_LENGTH);
    name.writeUInt16LE(libc.AF_PACKET, 0);
    name.writeUInt16BE(ETHERTYPE_ARP, 2);
    name.writeInt32LE(this.#interfaceIndex, 4);
    if (libc.bind(this.#fd, name, name.length) < 0) {
      const error = new SocketError(`bind a packet socket to ${interfaceName}`);
      libc.close(this.#fd);
      throw error;
    }
    const length = Buffer.alloc(4);
    length.writeUInt32LE(SOCKADDR_LL_LENGTH);
    libc.getsockname(this.#fd, name, length);
    this.hardwareAddress = Uint8Array.from(name.subarray(12, 18));
  }

  /** Asks everybody on the link. @throws SocketError */
  request(request: Omit<ArpRequest, 'senderHardwareAddress'>): void {
    writeArpRequest(this.#sent.buffers[0] as Buffer, { ...request, senderHardwareAddress: this.hardwareAddress });
    const name = this.#sent.names[0] as Buffer;
    writeLinkName(name, this.#interfaceIndex, BROADCAST_MAC);
    name.writeUInt16BE(ETHERTYPE_ARP, 2);
    this.#sent.setOutgoing(0, { start: 0, end: ARP_LENGTH }, SOCKADDR_LL_LENGTH);
    if (libc.sendmmsg(this.#fd, this.#sent.headers, 1, libc.MSG_DONTWAIT) < 1) throw new SocketError('send an ARP request');
  }

  /** What has come in since the last call; does not wait. */
  receive(): ArpPacket[] {
    const packets: ArpPacket[] = [];
    for (;;) {
      const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
      for (let index = 0; index < count; index++) {
        const packet = readArp((this.#received.buffers[index] as Buffer).subarray(0, this.#received.receivedLength(index)));
        if (packet !== undefined) packets.push(packet);
      }
      if (count < BURST) return packets;
    }
  }

  close(): void {
    libc.close(this.#fd);
  }
}
