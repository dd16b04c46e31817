import { SocketError } from '../libc/socket-error.js';
import { ArpSocket } from './arp-socket.js';

/** True if this process may send and receive ARP: it has CAP_NET_RAW. */
export function mayUseArp(): boolean {
  try {
    new ArpSocket('lo').close();
    return true;
  } catch (error) {
    if (error instanceof SocketError) return false;
    throw error;
  }
}
