// Run inside a machine: `node send-flood.js COUNT` sends that many DISCOVERs, each from another hardware address.
import { setImmediate } from 'node:timers/promises';
import { PacketSocket } from '@vmdhcp/linux-sockets';
import { BAD_PACKETS } from './bad-packets.js';

const [, , count = '0'] = process.argv;
const socket = new PacketSocket('eth0');
const packet = Uint8Array.from(BAD_PACKETS.find(({ name }) => name === 'an unknown client')?.bytes ?? []);
const view = new DataView(packet.buffer);
for (let index = 0; index < Number(count); index++) {
  // The last four octets of chaddr.
  view.setUint32(30, index);
  socket.broadcast(packet, { sourceAddress: 0, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 });
  if (index % 100 === 0) await setImmediate();
}
socket.close();
