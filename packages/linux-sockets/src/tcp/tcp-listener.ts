import { isIPv6 } from 'node:net';
import * as libc from '../libc/libc.js';
import { SOCKADDR_IN_LENGTH, writeSockaddrIn } from '../libc/socket-address.js';
import { SocketError } from '../libc/socket-error.js';
import { bindToInterface } from '../libc/socket-options.js';
import { ipv6Octets } from './ipv6-address.js';

const BACKLOG = 511;
const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;

export interface TcpListenerSettings {
  /** IPv4 or IPv6; `::` means every address of both. */
  readonly host: string;
  readonly port: number;
  /** Connections on other interfaces find no socket. */
  readonly interfaceName: string;
}

/**
 * Opens a TCP socket that listens on one interface only: by default Linux accepts connections to its address on every interface.
 * @returns its file descriptor.
 * @throws SocketError
 */
export function openTcpListener({ host, port, interfaceName }: TcpListenerSettings): number {
  const family = isIPv6(host) ? libc.AF_INET6 : libc.AF_INET;
  const fd = libc.socket(family, libc.SOCK_STREAM, 0);
  if (fd < 0) throw new SocketError('open a TCP socket');
  try {
    setNumber(fd, [libc.SOL_SOCKET, libc.SO_REUSEADDR], 1);
    if (family === libc.AF_INET6) setNumber(fd, [IPPROTO_IPV6, IPV6_V6ONLY], host === '::' ? 0 : 1);
    bindToInterface(fd, interfaceName);
    const name = family === libc.AF_INET6 ? socketName6(host, port) : socketName4(host, port);
    if (libc.bind(fd, name, name.length) < 0) throw new SocketError(`bind TCP port ${port} on ${interfaceName}`);
    if (libc.listen(fd, BACKLOG) < 0) throw new SocketError(`listen on TCP port ${port} on ${interfaceName}`);
    return fd;
  } catch (error) {
    libc.close(fd);
    throw error;
  }
}

function setNumber(fd: number, [level, option]: readonly [number, number], value: number): void {
  const memory = Buffer.alloc(4);
  memory.writeInt32LE(value);
  if (libc.setsockopt(fd, level, option, memory, 4) < 0) throw new SocketError('prepare a TCP socket');
}

/** `struct sockaddr_in` */
function socketName4(host: string, port: number): Buffer {
  const name = Buffer.alloc(SOCKADDR_IN_LENGTH);
  writeSockaddrIn(name, Buffer.from(host.split('.').map(Number)).readUInt32BE(), port);
  return name;
}

/** `struct sockaddr_in6` */
function socketName6(host: string, port: number): Buffer {
  const name = Buffer.alloc(28);
  name.writeUInt16LE(libc.AF_INET6, 0);
  name.writeUInt16BE(port, 2);
  ipv6Octets(host).copy(name, 8);
  return name;
}
