// Run inside a machine: sends each bad packet by broadcast, and after each does a whole exchange of its own. Prints one
// line of JSON for each.

import { PacketSocket } from '@vmdhcp/linux-sockets';
import { BAD_PACKETS } from './bad-packets.js';
import { openProbe } from './open-probe.js';

const socket = new PacketSocket('eth0');
const probe = openProbe({ interfaceName: 'eth0', timeoutMs: 5_000 });
for (const { name, bytes } of BAD_PACKETS) {
  socket.broadcast(bytes, { sourceAddress: 0, sourcePort: 68, destinationAddress: 0xffff_ffff, destinationPort: 67 });
  const [offer] = await probe.discover(true);
  const answer = offer === undefined ? undefined : await probe.request(offer);
  process.stdout.write(`${JSON.stringify({ name, answered: answer?.type ?? 'nothing', address: answer?.address })}\n`);
}
probe.close();
socket.close();
