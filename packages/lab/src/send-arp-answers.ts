// Run inside a machine: `node send-arp-answers.js` says of every address that an ARP probe asks about that this machine has it. Prints
// `answering` when it has begun, and ends when it is ended.
import { ArpSocket } from 'vmdhcp-agent/net';

const POLL_INTERVAL_MS = 2;
const socket = new ArpSocket('eth0');
setInterval(() => {
  for (const { isReply, senderAddress, targetAddress } of socket.receive()) {
    // A request whose sender has the address says the same as a reply (RFC 5227 §2.1.1).
    if (!isReply && senderAddress === 0) socket.request({ senderAddress: targetAddress, targetAddress });
  }
}, POLL_INTERVAL_MS);
process.stdout.write('answering\n');
