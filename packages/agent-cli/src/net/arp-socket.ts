import { ARP_LENGTH, type ArpPacket, type ArpRequest, ETHERTYPE_ARP, readArp, writeArpRequest } from './arp.js';
import * as libc from './libc.js';
import { openLinkSocket, SOCKADDR_LL_LENGTH } from './link-socket.js';
import { MessageSlab } from './message-slab.js';
import { writeLinkName } from './reply-queue.js';
import { SocketError } from './socket-error.js';

const BURST = 32;
const LARGEST_FRAME = 128;
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
    const { fd, interfaceIndex, hardwareAddress } = openLinkSocket(interfaceName, ETHERTYPE_ARP);
    this.#fd = fd;
    this.#interfaceIndex = interfaceIndex;
    this.hardwareAddress = hardwareAddress;
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
