import type { DhcpSockets, QueuedReply } from '@vmdhcp/dhcp-agent';
import { SERVER_PORT } from '@vmdhcp/dhcp-allocator';
import { BROADCAST_MAC, type Delivery, libc, type OutgoingDatagram, UdpBurstSocket } from '@vmdhcp/linux-sockets';

/** UDP port 67 of the machine's interfaces. */
export const linuxDhcpSockets: DhcpSockets = {
  indexOf: libc.ifNameToIndex,
  open: (interfaceName, handler, events) =>
    UdpBurstSocket.open({
      interfaceName,
      port: SERVER_PORT,
      handler: (packet, into) => {
        const reply = handler(packet, into);
        return reply === undefined ? undefined : toDatagram(reply);
      },
      ...events,
    }),
};

/** How a reply leaves: with which addresses, and in a frame or not. */
export function toDatagram(reply: QueuedReply): OutgoingDatagram {
  const { length, destination, serverAddress, hardwareAddress } = reply;
  return {
    length,
    delivery: deliveryOf(reply),
    destinationAddress: destination.address,
    destinationPort: destination.port,
    sourceAddress: serverAddress,
    hardwareAddress: destination.kind === 'broadcast' ? BROADCAST_MAC : hardwareAddress,
  };
}

/**
 * A client without an address does not answer ARP, so its reply goes in a frame. So does a reply to a client on the link: the kernel would
 * ask for its address by ARP, and keep room for it and for the reply for seconds where a message names an address that is not there.
 * Source: RFC 2131 §4.1 ("If unicasting is not possible, the message MAY be sent as an IP broadcast").
 */
function deliveryOf({ destination, isOnLink }: QueuedReply): Delivery {
  if (destination.kind === 'link') return 'framed-or-broadcast';
  return destination.kind === 'broadcast' || isOnLink ? 'framed' : 'routed';
}
