import * as libc from '../libc/libc.js';
import { SOCKADDR_IN_LENGTH, writeSockaddrIn } from '../libc/socket-address.js';
import { SocketError } from '../libc/socket-error.js';
import { bindToInterface, growReceiveBuffer, growSendBuffer, setSocketNumber } from '../libc/socket-options.js';

/**
 * Opens a UDP socket that is bound to a port on one interface, and may broadcast. It does not set SO_REUSEADDR: a second program on the same port is
 * an error, because both would answer.
 * @param port - 0 for any free port.
 * @returns its file descriptor.
 * @throws SocketError
 */
export function openUdpSocket(interfaceName: string, port: number): number {
  const fd = libc.socket(libc.AF_INET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a UDP socket');
  try {
    setSocketNumber(fd, libc.SO_BROADCAST, 1);
    bindToInterface(fd, interfaceName);
    growReceiveBuffer(fd);
    growSendBuffer(fd);
    const address = Buffer.alloc(SOCKADDR_IN_LENGTH);
    writeSockaddrIn(address, 0, port);
    if (libc.bind(fd, address, address.length) < 0) throw new SocketError(`bind UDP port ${port} on ${interfaceName}`);
    return fd;
  } catch (error) {
    libc.close(fd);
    throw error;
  }
}
