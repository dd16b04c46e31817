// Run inside a machine of the bench: `node first-reply.js INTERFACE MAC` prints when a server has answered the client for the first time, in
// milliseconds since 1970. It asks a hundred times a second.
import { setTimeout as delay } from 'node:timers/promises';
import { encodeClientPacket } from '@vmdhcp/dhcp-agent/packet-path';
import { PacketSocket } from '@vmdhcp/linux-sockets';

const INTERVAL_MS = 10;
const [, , interfaceName = '', macAddress = ''] = process.argv;
const socket = new PacketSocket(interfaceName);
const discover = encodeClientPacket({ type: 'discover', macAddress, xid: 1, wantsBroadcast: true });
const endpoints = { sourceAddress: 0, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 };
while (!socket.receive().some(({ sourcePort }) => sourcePort === 67)) {
  socket.broadcast(discover, endpoints);
  await delay(INTERVAL_MS);
}
process.stdout.write(`${Date.now()}\n`);
process.exit(0);
