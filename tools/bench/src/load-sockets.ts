/** Sockets with large buffers: of a relay, and for frames of clients. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { libc, SocketError } from '@vmdhcp/linux-sockets';

/** @throws Error where it is not an IPv4 address. */
export function addressOf(text: string): number {
  const address = parseIpv4Address(text);
  if (address === undefined) throw new Error(`${text} is not an IPv4 address`);
  return address;
}

/** @throws SocketError */
export function openRelaySocket(address: string): number {
  const fd = libc.socket(libc.AF_INET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a UDP socket');
  enlarge(fd);
  const name = Buffer.alloc(16);
  name.writeUInt16LE(libc.AF_INET, 0);
  name.writeUInt16BE(67, 2);
  name.writeUInt32BE(addressOf(address), 4);
  if (libc.bind(fd, name, name.length) < 0) throw new SocketError(`bind ${address}:67`);
  return fd;
}

/** A socket for frames of one interface, or of all if there are several. */
export function openFrameSocket(interfaces: readonly string[]): number {
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a packet socket');
  enlarge(fd);
  const name = Buffer.alloc(20);
  name.writeUInt16LE(libc.AF_PACKET, 0);
  name.writeUInt16BE(libc.ETHERTYPE_IPV4, 2);
  name.writeInt32LE(interfaces.length === 1 ? libc.ifNameToIndex(interfaces[0] as string) : 0, 4);
  if (libc.bind(fd, name, name.length) < 0) throw new SocketError('bind a packet socket');
  return fd;
}

function enlarge(fd: number): void {
  const octets = Buffer.alloc(4);
  octets.writeInt32LE(16 << 20);
  // As far as the system allows; and beyond that with rights that a user namespace does not give.
  for (const option of [libc.SO_RCVBUF, libc.SO_SNDBUF, libc.SO_RCVBUFFORCE, libc.SO_SNDBUFFORCE]) {
    libc.setsockopt(fd, libc.SOL_SOCKET, option, octets, 4);
  }
}
