// Run inside a machine: `node send-arp-answers.js [ADDRESS]` claims every address of an ARP probe for this machine;
// with an address it claims that one without a request, as fast as it can. Prints `answering` when it has begun, and ends when it is
// ended.
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { ArpSocket } from '@vmdhcp/linux-sockets';

const POLL_INTERVAL_MS = 2;
const FLOOD_BURST = 256;
const socket = new ArpSocket('eth0');
const flooded = parseIpv4Address(process.argv[2] ?? '');
if (flooded === undefined) setInterval(answer, POLL_INTERVAL_MS);
else flood(flooded);
process.stdout.write('answering\n');

/** A request whose sender has the address means the same as a reply (RFC 5227 §2.1.1). */
function answer(): void {
  for (const { isReply, senderAddress, targetAddress } of socket.receive()) {
    if (!isReply && senderAddress === 0) socket.request({ senderAddress: targetAddress, targetAddress });
  }
}

function flood(address: number): void {
  for (let count = 0; count < FLOOD_BURST; count++) socket.request({ senderAddress: address, targetAddress: address });
  setImmediate(() => flood(address));
}
