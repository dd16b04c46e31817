// Run inside a machine: `node decline-everything.js COUNT` gets an address and declines it, again and again.
import { encodeMessage, macAddressBytes } from '@vmdhcp/dhcp-allocator';
import { PacketSocket } from '@vmdhcp/linux-sockets';
import { openProbe } from './open-probe.js';

const [, , count = '0'] = process.argv;
const socket = new PacketSocket('eth0');
const probe = openProbe({ interfaceName: 'eth0', timeoutMs: 5_000 });
const addressBytes = (address: string) => Uint8Array.from(address.split('.'), Number);
for (let round = 0; round < Number(count); round++) {
  const [offer] = await probe.discover(true);
  if (offer === undefined) throw new Error('no offer');
  const { bytes } = encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: round, secs: 0, flags: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
    chaddr: macAddressBytes(probe.macAddress),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [
      [53, Uint8Array.of(4)],
      [50, addressBytes(offer.address)],
      [54, addressBytes(offer.server)],
    ],
  });
  socket.broadcast(bytes, { sourceAddress: 0, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 });
}
probe.close();
socket.close();
