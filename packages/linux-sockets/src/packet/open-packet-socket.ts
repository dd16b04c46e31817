import * as libc from '../libc/libc.js';
import { readHardwareAddress, SOCKADDR_LL_LENGTH } from '../libc/socket-address.js';
import { SocketError } from '../libc/socket-error.js';
import { growReceiveBuffer } from '../libc/socket-options.js';

export interface OpenPacketSocket {
  readonly fd: number;
  readonly interfaceIndex: number;
  /** The interface's own address, six octets. */
  readonly hardwareAddress: Uint8Array;
}

/**
 * Opens a packet socket for frames of one type on one interface; the frames come and go without their Ethernet header. Needs CAP_NET_RAW.
 * @param etherType - `libc.ETHERTYPE_...`
 * @param bufferOctets - room for packets that came in; default: for a burst of ten thousand.
 * @throws SocketError
 */
export function openPacketSocket(interfaceName: string, etherType: number, bufferOctets?: number): OpenPacketSocket {
  const interfaceIndex = libc.ifNameToIndex(interfaceName);
  if (interfaceIndex === 0) throw new SocketError(`find interface ${interfaceName}`);
  // Protocol 0 receives nothing: the frame type is set when the interface is bound, so that frames of other interfaces are never received.
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a packet socket');
  growReceiveBuffer(fd, bufferOctets);
  const address = Buffer.alloc(SOCKADDR_LL_LENGTH);
  address.writeUInt16LE(libc.AF_PACKET, 0);
  address.writeUInt16BE(etherType, 2);
  address.writeInt32LE(interfaceIndex, 4);
  if (libc.bind(fd, address, address.length) < 0) {
    const error = new SocketError(`bind a packet socket to ${interfaceName}`);
    libc.close(fd);
    throw error;
  }
  const length = Buffer.alloc(4);
  length.writeUInt32LE(SOCKADDR_LL_LENGTH);
  libc.getsockname(fd, address, length);
  return { fd, interfaceIndex, hardwareAddress: readHardwareAddress(address) };
}
