/**
 * Sockets, interfaces and addresses of Linux that Node does not have.
 *
 * @packageDocumentation
 */
export { AddressProbe, type AddressQuestion, type AddressUse } from './address-probe.js';
export { announceAddress } from './announce-address.js';
export { ArpSocket } from './arp-socket.js';
export { formatMacAddress, type Ipv4Address, type MacAddress } from './ethernet-address.js';
export { HEADERS_LENGTH, writeHeaders } from './frame-headers.js';
export { addAddress, hasAddress, hasAddressForGood, lookForAddress } from './interface-addresses.js';
export { closePath, isolateInterface, type Link, openPath, prepareIsolation, type ServerAddress } from './interface-isolation.js';
export { dropAddresses, leaseAddresses } from './leased-addresses.js';
export * as libc from './libc.js';
export {
  AF_INET,
  AF_PACKET,
  ETHERTYPE_IPV4,
  flock,
  ifNameToIndex,
  LOCK_EX,
  LOCK_NB,
  lastErrorName,
  MSG_DONTWAIT,
  sendmmsg,
  separateLargeMemory,
  trimMemory,
} from './libc.js';
export { writeLinkName } from './link-name.js';
export { mayUseArp } from './may-use-arp.js';
export { MessageSlab } from './message-slab.js';
export { type LinkAddress, Netlink } from './netlink.js';
export { PacketSocket } from './packet-socket.js';
export { SocketError } from './socket-error.js';
export { growReceiveBuffer, growSendBuffer, setSocketNumber } from './socket-options.js';
export { openTcpListener } from './tcp-listener.js';
