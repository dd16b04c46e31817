import * as libc from '../libc/libc.js';
import { SocketError } from '../libc/socket-error.js';
import { growReceiveBuffer } from '../libc/socket-options.js';

export const SOCKADDR_LL_LENGTH = 20;

export interface LinkSocket {
  readonly fd: number;
  readonly interfaceIndex: number;
  /** The interface's own, six octets. */
  readonly hardwareAddress: Uint8Array;
}

/** A packet socket for frames of one type on one interface. Needs CAP_NET_RAW. @throws SocketError */
export function openLinkSocket(interfaceName: string, etherType: number): LinkSocket {
  const interfaceIndex = libc.ifNameToIndex(interfaceName);
  if (interfaceIndex === 0) throw new SocketError(`find interface ${interfaceName}`);
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a packet socket');
  growReceiveBuffer(fd);
  const name = Buffer.alloc(SOCKADDR_LL_LENGTH);
  name.writeUInt16LE(libc.AF_PACKET, 0);
  name.writeUInt16BE(etherType, 2);
  name.writeInt32LE(interfaceIndex, 4);
  if (libc.bind(fd, name, name.length) < 0) {
    const error = new SocketError(`bind a packet socket to ${interfaceName}`);
    libc.close(fd);
    throw error;
  }
  const length = Buffer.alloc(4);
  length.writeUInt32LE(SOCKADDR_LL_LENGTH);
  libc.getsockname(fd, name, length);
  return { fd, interfaceIndex, hardwareAddress: Uint8Array.from(name.subarray(12, 18)) };
}
