/** Filters ARP packets in the kernel, so that in a flood the packets of others do not fill the socket's buffer. */
import type { Ipv4Number } from '../ethernet/mac-address.js';
import { Code, encodeFilter, type Instruction, PACKET_TYPE_AT, TO_THIS_HOST, WHOLE_PACKET } from '../libc/packet-filter.js';
import { ARP_SENDER_ADDRESS_AT } from './arp-packet.js';

/** A jump can skip at most 255 instructions. */
const MOST_ADDRESSES = 255;

/**
 * A program (`struct sock_filter[]`) for ARP packets of hosts that use one of these addresses. Up to 255 addresses, it accepts exactly the packets
 * with one of them as sender; with more, the packets to this host from the lowest to the highest of them, which are the replies to its requests.
 */
export function encodeArpFilter(senderAddresses: readonly Ipv4Number[]): Buffer {
  return senderAddresses.length > MOST_ADDRESSES ? encodeSpan(senderAddresses) : encodeList(senderAddresses);
}

function encodeSpan(senderAddresses: readonly Ipv4Number[]): Buffer {
  let [lowest, highest] = [0xffff_ffff, 0];
  for (const address of senderAddresses) [lowest, highest] = [Math.min(lowest, address), Math.max(highest, address)];
  return encodeFilter([
    { code: Code.loadWordAt, value: PACKET_TYPE_AT },
    { code: Code.jumpIfEqual, value: TO_THIS_HOST, ifFalse: 3 },
    ...rangeOf({ lowest, highest }),
  ]);
}

interface SenderRange {
  readonly lowest: Ipv4Number;
  readonly highest: Ipv4Number;
}

/** A program for ARP packets of hosts that use an address from the lowest to the highest. */
export function encodeArpRangeFilter(range: SenderRange): Buffer {
  return encodeFilter(rangeOf(range));
}

/** The second to last instruction refuses a packet, the last one accepts it. */
function rangeOf({ lowest, highest }: SenderRange): Instruction[] {
  return [
    { code: Code.loadWordAt, value: ARP_SENDER_ADDRESS_AT },
    { code: Code.jumpIfAtLeast, value: lowest, ifFalse: 1 },
    { code: Code.jumpIfGreater, value: highest, ifFalse: 1 },
    { code: Code.return, value: 0 },
    { code: Code.return, value: WHOLE_PACKET },
  ];
}

function encodeList(senderAddresses: readonly Ipv4Number[]): Buffer {
  return encodeFilter([
    { code: Code.loadWordAt, value: ARP_SENDER_ADDRESS_AT },
    // Skips the other comparisons and the first return.
    ...senderAddresses.map((value, index) => ({ code: Code.jumpIfEqual, value, ifTrue: senderAddresses.length - index })),
    { code: Code.return, value: 0 },
    { code: Code.return, value: WHOLE_PACKET },
  ]);
}
