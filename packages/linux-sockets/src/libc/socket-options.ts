import * as libc from './libc.js';
import { SocketError } from './socket-error.js';

/** Room for ten thousand small packets, as they come in a flood. */
const BUFFER_OCTETS = 8 << 20;

/** Sets an option of `SOL_SOCKET` (`libc.SO_...`). False if the system refuses it. */
export function setSocketNumber(fd: number, option: number, value: number): boolean {
  const memory = Buffer.alloc(4);
  memory.writeInt32LE(value);
  return libc.setsockopt(fd, libc.SOL_SOCKET, option, memory, 4) === 0;
}

/** Makes room for a burst of incoming packets: 8 MiB with CAP_NET_ADMIN, otherwise the system's limit for every process. */
export function growReceiveBuffer(fd: number, octets = BUFFER_OCTETS): void {
  if (!setSocketNumber(fd, libc.SO_RCVBUFFORCE, octets)) setSocketNumber(fd, libc.SO_RCVBUF, octets);
}

/** Makes room for a burst of outgoing packets. @see growReceiveBuffer */
export function growSendBuffer(fd: number): void {
  if (!setSocketNumber(fd, libc.SO_SNDBUFFORCE, BUFFER_OCTETS)) setSocketNumber(fd, libc.SO_SNDBUF, BUFFER_OCTETS);
}

/** Binds the socket to this interface, for receiving and sending. @throws SocketError */
export function bindToInterface(fd: number, interfaceName: string): void {
  const device = Buffer.from(`${interfaceName}\0`);
  if (libc.setsockopt(fd, libc.SOL_SOCKET, libc.SO_BINDTODEVICE, device, device.length) < 0)
    throw new SocketError(`bind a socket to interface ${interfaceName}`);
}
