// A thread of `npm run bench:wake-on-lan`: sends magic packets with made-up addresses to 127.0.0.1, at a pace, and wakes a machine of the list now and then.
import { parentPort, workerData } from 'node:worker_threads';
import { libc, MessageSlab, openUdpSocket, SOCKADDR_IN_LENGTH, writeSockaddrIn } from '@vmdhcp/linux-sockets';
import { encodeMagicPacket, MAGIC_PACKET_LENGTH } from '@vmdhcp/wake-on-lan';

const LOOPBACK = 0x7f000001;
const BURST = 64;
const { port, perSecond, seconds, machines } = workerData;
const socket = openUdpSocket('lo', 0);
const slab = new MessageSlab({ count: BURST, size: 128 });
for (let index = 0; index < BURST; index++) {
  writeSockaddrIn(slab.names[index], LOOPBACK, port);
  slab.setOutgoing(index, { start: 0, end: MAGIC_PACKET_LENGTH }, SOCKADDR_IN_LENGTH);
}
const startedAt = performance.now();
let [sent, woken] = [0, 0];

while (performance.now() - startedAt < seconds * 1000) {
  const due = ((performance.now() - startedAt) * perSecond) / 1000;
  while (sent < due) sendBurst();
  if (woken < machines.length && performance.now() - startedAt > (woken * seconds * 1000) / machines.length)
    wake(machines[woken++]);
}
parentPort.postMessage({ kind: 'done', sent });

function sendBurst() {
  for (let index = 0; index < BURST; index++) {
    const number = sent + index;
    const address = [2, 0xee, number >>> 24, number >>> 16, number >>> 8, number].map((part) => part & 0xff);
    const octets = slab.buffers[index].fill(0xff, 0, 6);
    for (let at = 6; at < MAGIC_PACKET_LENGTH; at++) octets[at] = address[at % 6];
  }
  sent += Math.max(0, libc.sendmmsg(socket, slab.headers, BURST, libc.MSG_DONTWAIT));
}

function wake(macAddress) {
  slab.buffers[0].set(encodeMagicPacket({ macAddress }));
  const sentAtMs = performance.timeOrigin + performance.now();
  libc.sendmmsg(socket, slab.headers, 1, libc.MSG_DONTWAIT);
  parentPort.postMessage({ kind: 'woken', macAddress, sentAtMs });
}
