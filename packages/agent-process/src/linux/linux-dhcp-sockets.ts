import type { DhcpSockets, LateReply, QueuedReply } from '@vmdhcp/dhcp-agent';
import { SERVER_PORT } from '@vmdhcp/dhcp-allocator';
import { BROADCAST_MAC, type Delivery, libc, type OutgoingDatagram, UdpBurstSocket } from '@vmdhcp/linux-sockets';

type Scratch = { -readonly [Field in keyof OutgoingDatagram]: OutgoingDatagram[Field] };

/** UDP port 67 of the machine's interfaces. */
export const linuxDhcpSockets: DhcpSockets = {
  indexOf: libc.ifNameToIndex,
  open: async (interfaceName, handler, events) => {
    // One buffer for all replies: the socket reads it before the next one is written, and the packet path allocates nothing.
    const datagram = newDatagram();
    const socket = await UdpBurstSocket.open({
      interfaceName,
      port: SERVER_PORT,
      handler: (packet, into, sender) => {
        const reply = handler(packet, into, sender);
        return reply === undefined ? undefined : writeDatagram(datagram, reply);
      },
      ...events,
    });
    return {
      interfaceIndex: socket.interfaceIndex,
      sendsFrames: socket.sendsFrames,
      inject: (packet) => socket.inject(packet),
      send: (replies) => socket.send(toDatagrams(replies, datagram)),
      close: () => socket.close(),
    };
  },
};

function* toDatagrams(replies: readonly LateReply[], datagram: Scratch) {
  for (const { bytes, queued } of replies) yield { payload: bytes, datagram: writeDatagram(datagram, queued) };
}

export function newDatagram(): Scratch {
  const hardwareAddress = BROADCAST_MAC;
  return { length: 0, delivery: 'routed', destinationAddress: 0, destinationPort: 0, sourceAddress: 0, hardwareAddress };
}

/** Decides with which addresses a reply leaves, and whether in a frame. */
export function writeDatagram(datagram: Scratch, reply: QueuedReply): OutgoingDatagram {
  const { destination } = reply;
  datagram.length = reply.length;
  datagram.delivery = deliveryOf(reply);
  datagram.destinationAddress = destination.address;
  datagram.destinationPort = destination.port;
  datagram.sourceAddress = reply.serverAddress;
  datagram.hardwareAddress = destination.kind === 'broadcast' ? BROADCAST_MAC : reply.hardwareAddress;
  return datagram;
}

/**
 * A client without an address does not answer ARP, so its reply goes in a frame. So does a reply to a client on the link:
 * otherwise the kernel would resolve the address by ARP, and would store the entry and the reply for seconds if a message names
 * an address that does not exist.
 * Source: RFC 2131 §4.1 ("If unicasting is not possible, the message MAY be sent as an IP broadcast").
 */
function deliveryOf({ destination, isOnLink }: QueuedReply): Delivery {
  if (destination.kind === 'link') return 'framed-or-broadcast';
  return destination.kind === 'broadcast' || isOnLink ? 'framed' : 'routed';
}
