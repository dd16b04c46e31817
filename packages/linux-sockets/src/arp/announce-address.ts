import type { Ipv4Address } from '../ethernet/mac-address.js';
import { ArpSocket } from './arp-socket.js';

/**
 * Tells everybody on the link that this interface has the address now, so that nobody sends to its former holder any more.
 * Source: RFC 5227 §2.3, §3.
 *
 * @throws SocketError
 */
export function announceAddress(interfaceName: string, address: Ipv4Address): void {
  const socket = new ArpSocket(interfaceName);
  try {
    socket.request({ senderAddress: address, targetAddress: address });
  } finally {
    socket.close();
  }
}
