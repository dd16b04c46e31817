import * as libc from './libc.js';
import { SocketError } from './socket-error.js';

/** Room for ten thousand small packets, as they come in a flood. */
const BUFFER_OCTETS = 8 << 20;

/** Sets an option of `SOL_SOCKET` (`libc.SO_...`). False where the system refuses it. */
export function setSocketNumber(fd: number, option: number, value: number): boolean {
  const memory = Buffer.alloc(4);
  memory.writeInt32LE(value);
  return libc.setsockopt(fd, libc.SOL_SOCKET, option, memory, 4) === 0;
}

/** Room for a burst of packets that come in: 8 MiB with CAP_NET_ADMIN, what the system allows every process without. */
export function growReceiveBuffer(fd: number): void {
  if (!setSocketNumber(fd, libc.SO_RCVBUFFORCE, BUFFER_OCTETS)) setSocketNumber(fd, libc.SO_RCVBUF, BUFFER_OCTETS);
}

/** Room for a burst of packets that go out. @see growReceiveBuffer */
export function growSendBuffer(fd: number): void {
  if (!setSocketNumber(fd, libc.SO_SNDBUFFORCE, BUFFER_OCTETS)) setSocketNumber(fd, libc.SO_SNDBUF, BUFFER_OCTETS);
}

/** From now on the socket receives from this interface only and sends through it. @throws SocketError */
export function bindToInterface(fd: number, interfaceName: string): void {
  const device = Buffer.from(`${interfaceName}\0`);
  if (libc.setsockopt(fd, libc.SOL_SOCKET, libc.SO_BINDTODEVICE, device, device.length) < 0)
    throw new SocketError(`bind a socket to interface ${interfaceName}`);
}
