import { libc, MessageSlab, SOCKADDR_LL_LENGTH, writeSockaddrLl } from '@vmdhcp/linux-sockets';

const ETHERTYPE_IPV6 = 0x86dd;
const ICMPV6 = 58;
const ALL_NODES = Buffer.from('ff020000000000000000000000000001', 'hex');
const ALL_NODES_MAC = Buffer.from('333300000001', 'hex');
const ROUTER = Buffer.from('fe8000000000000000000000000000aa', 'hex');

/**
 * Tells all hosts on a network of the lab to use an IPv6 router and to make an address from `prefix` (its first eight octets, in
 * hexadecimal digits). Source: RFC 4861 §4.2, §4.6.2.
 */
export function advertiseRouter(network: string, prefix: string): void {
  const body = Buffer.alloc(16 + 32);
  body.writeUInt8(134, 0);
  body.writeUInt8(64, 4);
  body.writeUInt16BE(1800, 6);
  // Prefix information: 64 bits, on the link, for addresses.
  body.set([3, 4, 64, 0xc0], 16);
  body.writeUInt32BE(86_400, 20);
  body.writeUInt32BE(14_400, 24);
  body.set(Buffer.from(prefix, 'hex'), 32);
  const header = Buffer.alloc(40);
  header.writeUInt8(0x60, 0);
  header.writeUInt16BE(body.length, 4);
  header.set([ICMPV6, 255], 6);
  header.set(ROUTER, 8);
  header.set(ALL_NODES, 24);
  body.writeUInt16BE(checksum(body), 2);
  send(network, Buffer.concat([header, body]));
}

/** Over the pseudo-header too. Source: RFC 4443 §2.3. */
function checksum(body: Buffer): number {
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(body.length, 0);
  pseudo.writeUInt8(ICMPV6, 7);
  const all = Buffer.concat([ROUTER, ALL_NODES, pseudo, body]);
  let sum = 0;
  for (let at = 0; at < all.length; at += 2) sum += all.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function send(network: string, packet: Buffer): void {
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new Error('a packet socket cannot be opened');
  try {
    const slab = new MessageSlab({ count: 1, size: packet.length });
    (slab.buffers[0] as Buffer).set(packet);
    const target = { interfaceIndex: libc.ifNameToIndex(network), etherType: ETHERTYPE_IPV6 };
    writeSockaddrLl(slab.names[0] as Buffer, target, ALL_NODES_MAC);
    slab.setOutgoing(0, { start: 0, end: packet.length }, SOCKADDR_LL_LENGTH);
    if (libc.sendmmsg(fd, slab.headers, 1, 0) < 1) throw new Error('the router advertisement cannot be sent');
  } finally {
    libc.close(fd);
  }
}
