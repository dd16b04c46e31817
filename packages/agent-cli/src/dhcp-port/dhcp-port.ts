/** UDP port 67 of one interface: what a DHCP server replies, as datagrams and frames. */
import { SERVER_PORT } from '@vmdhcp/dhcp-allocator';
import { BROADCAST_MAC, type OutgoingDatagram, type SendFailure, UdpBurstSocket } from '@vmdhcp/linux-sockets';
import type { DhcpPacketHandler, QueuedReply } from './dhcp-packet-handler.js';

export interface DhcpPortEvents {
  readonly onSendFailure: (failure: SendFailure) => void;
  /** The socket failed after it was opened. */
  readonly onError: (error: Error) => void;
  /** Nanoseconds from reading a burst to having answered it, and how many packets it had. */
  readonly onBurst: (durationNs: number, packets: number) => void;
}

/** Opens UDP port 67. @throws SocketError with code EPERM, EADDRINUSE, ENODEV, ... */
export function openDhcpPort(interfaceName: string, handler: DhcpPacketHandler, events: DhcpPortEvents): Promise<UdpBurstSocket> {
  return UdpBurstSocket.open({
    interfaceName,
    port: SERVER_PORT,
    handler: (packet, into) => {
      const reply = handler(packet, into);
      return reply === undefined ? undefined : toDatagram(reply);
    },
    ...events,
  });
}

/**
 * How a reply leaves. Source: RFC 2131 §4.1 ("If unicasting is not possible, the message MAY be sent as an IP broadcast"): a client that has
 * no address yet does not answer ARP for it, so its reply goes in a frame.
 */
export function toDatagram({ length, destination, serverAddress, hardwareAddress, isOnLink }: QueuedReply): OutgoingDatagram {
  const { kind, address, port } = destination;
  return {
    length,
    delivery: kind === 'link' ? 'framed-or-broadcast' : kind === 'broadcast' || isOnLink ? 'framed' : 'routed',
    destinationAddress: address,
    destinationPort: port,
    sourceAddress: serverAddress,
    hardwareAddress: kind === 'broadcast' ? BROADCAST_MAC : hardwareAddress,
  };
}
