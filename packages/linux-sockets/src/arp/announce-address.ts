import type { Ipv4Number } from '../ethernet/mac-address.js';
import { ArpSocket } from './arp-socket.js';

/**
 * Announces to all hosts on the link that this interface has the address now, so that they stop sending to its previous owner. Source: RFC 5227 §2.3,
 * §3.
 *
 * @throws SocketError
 */
export function announceAddress(interfaceName: string, address: Ipv4Number): void {
  const socket = new ArpSocket(interfaceName);
  try {
    socket.request({ senderAddress: address, targetAddress: address });
  } finally {
    socket.close();
  }
}
