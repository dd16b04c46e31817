import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import * as libc from './libc.js';
import { MessageSlab } from './message-slab.js';
import { PacketSocket } from './packet-socket.js';
import { writeLinkName } from './reply-queue.js';
import { SocketError } from './socket-error.js';

const SOCKADDR_LL_LENGTH = 20;
const ARP_LENGTH = 28;
const ETHERTYPE_ARP = 0x0806;
const BROADCAST_MAC = Buffer.alloc(6, 0xff);

/**
 * Tells everybody on the link that this interface has the address now, so that nobody sends to its former holder any more.
 * Source: RFC 5227 §3.
 *
 * @throws SocketError
 */
export function announceAddress(interfaceName: string, address: Ipv4Address): void {
  const packets = new PacketSocket(interfaceName);
  const { hardwareAddress } = packets;
  packets.close();
  const interfaceIndex = libc.ifNameToIndex(interfaceName);
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a packet socket');
  const slab = new MessageSlab({ count: 1, size: ARP_LENGTH });
  writeAnnouncement(slab.buffers[0] as Buffer, hardwareAddress, address);
  const name = slab.names[0] as Buffer;
  writeLinkName(name, interfaceIndex, BROADCAST_MAC);
  name.writeUInt16BE(ETHERTYPE_ARP, 2);
  slab.setOutgoing(0, { start: 0, end: ARP_LENGTH }, SOCKADDR_LL_LENGTH);
  const sent = libc.sendmmsg(fd, slab.headers, 1, libc.MSG_DONTWAIT);
  const error = sent < 1 ? new SocketError('send an ARP announcement') : undefined;
  libc.close(fd);
  if (error !== undefined) throw error;
}

/** An ARP request for the address by the address itself. Source: RFC 826, RFC 5227 §2.3. */
function writeAnnouncement(packet: Buffer, hardwareAddress: Uint8Array, address: Ipv4Address): void {
  packet.fill(0, 0, ARP_LENGTH);
  packet.writeUInt16BE(1, 0);
  packet.writeUInt16BE(libc.ETHERTYPE_IPV4, 2);
  packet.writeUInt8(6, 4);
  packet.writeUInt8(4, 5);
  packet.writeUInt16BE(1, 6);
  packet.set(hardwareAddress, 8);
  packet.writeUInt32BE(address, 14);
  packet.writeUInt32BE(address, 24);
}
