/**
 * Sockets, interfaces and addresses of Linux that Node does not have.
 *
 * @packageDocumentation
 */
export { AddressProbe, type AddressQuestion, type AddressUse } from './arp/address-probe.js';
export { announceAddress } from './arp/announce-address.js';
export { ArpSocket } from './arp/arp-socket.js';
export { formatMacAddress, type Ipv4Address, type MacAddress } from './packet/ethernet-address.js';
export { HEADERS_LENGTH, writeHeaders } from './packet/frame-headers.js';
export { addAddress, hasAddress, hasAddressForGood, lookForAddress } from './addresses/interface-addresses.js';
export { closePath, isolateInterface, type Link, openPath, prepareIsolation, type ServerAddress } from './isolation/interface-isolation.js';
export { dropAddresses, leaseAddresses } from './addresses/leased-addresses.js';
export * as libc from './libc/libc.js';
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
} from './libc/libc.js';
export { writeLinkName } from './packet/link-name.js';
export { mayUseArp } from './arp/may-use-arp.js';
export { MessageSlab } from './libc/message-slab.js';
export { type LinkAddress, Netlink } from './netlink/netlink.js';
export { PacketSocket } from './packet/packet-socket.js';
export { SocketError } from './libc/socket-error.js';
export { growReceiveBuffer, growSendBuffer, setSocketNumber } from './libc/socket-options.js';
export { openTcpListener } from './tcp/tcp-listener.js';
