// A part of `npm run bench -- wake-on-lan`: sends magic packets with made-up addresses at a pace, and wakes a machine of the list now and then. Its
// settings are JSON in its first parameter; it prints what it sent.
import { libc, MessageSlab, openUdpSocket, SOCKADDR_IN_LENGTH, writeSockaddrIn } from '@vmdhcp/linux-sockets';
import { encodeMagicPacket, MAGIC_PACKET_LENGTH } from '@vmdhcp/wake-on-lan';

const BURST = 64;
const settings = JSON.parse(process.argv[2]);
const { port, perSecond, seconds, machines, first, interfaceName, address } = settings;
const report = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const socket = openUdpSocket(interfaceName, 0);
const slab = new MessageSlab({ count: BURST, size: 128 });
for (let index = 0; index < BURST; index++) {
  writeSockaddrIn(slab.names[index], address, port);
  slab.setOutgoing(index, { start: 0, end: MAGIC_PACKET_LENGTH }, SOCKADDR_IN_LENGTH);
}
const startedAt = performance.now();
let [sent, woken] = [0, 0];

while (performance.now() - startedAt < seconds * 1000) {
  const due = ((performance.now() - startedAt) * perSecond) / 1000;
  if (sent < due) sendBurst();
  if (woken < machines.length && performance.now() - startedAt > (woken * seconds * 1000) / machines.length)
    wake(machines[woken++]);
}
report({ kind: 'done', sent });

/** Nothing is allocated: the sender has to be quicker than the receiver. */
function sendBurst() {
  for (let index = 0; index < BURST; index++) {
    const octets = slab.buffers[index].fill(0xff, 0, 6);
    octets[6] = 2;
    octets[7] = 0xee;
    octets.writeUInt32BE((first + sent + index) >>> 0, 8);
    for (const length of [6, 12, 24, 48]) octets.copyWithin(6 + length, 6, 6 + length);
  }
  sent += Math.max(0, libc.sendmmsg(socket, slab.headers, BURST, libc.MSG_DONTWAIT));
}

function wake(macAddress) {
  slab.buffers[0].set(encodeMagicPacket({ macAddress }));
  const sentAtMs = performance.timeOrigin + performance.now();
  // The flood fills the buffer of the socket: the kernel then takes nothing for a moment.
  while (libc.sendmmsg(socket, slab.headers, 1, libc.MSG_DONTWAIT) !== 1);
  report({ kind: 'woken', macAddress, sentAtMs });
}
