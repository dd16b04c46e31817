import { AF_PACKET, ETHERTYPE_IPV4 } from '../libc/libc.js';

/** `struct sockaddr_ll`: family, protocol, interface, hardware type, packet type, address length, address. */
export function writeLinkName(name: Buffer, interfaceIndex: number, hardwareAddress: Uint8Array): void {
  name.writeUInt16LE(AF_PACKET, 0);
  name.writeUInt16BE(ETHERTYPE_IPV4, 2);
  name.writeInt32LE(interfaceIndex, 4);
  name.writeUInt32LE(0, 8);
  name.writeUInt8(6, 11);
  for (let octet = 0; octet < 6; octet++) name[12 + octet] = hardwareAddress[octet] as number;
}
