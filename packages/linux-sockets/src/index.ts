/// <reference types="node" preserve="true" />
/**
 * Linux sockets that Node does not have: UDP in bursts on one interface, packet sockets, ARP, addresses, links and routing rules over netlink.
 *
 * @packageDocumentation
 */
export type { LinkAddress, ListedAddress } from './addresses/address-message.js';
export {
  addNewAddress,
  addTemporaryAddresses,
  listAddresses,
  prolongAddress,
  removeAddresses,
} from './addresses/temporary-addresses.js';
export { announceAddress } from './arp/announce-address.js';
export { ArpListener, type ArpSender } from './arp/arp-listener.js';
export { type ArpAnswers, ArpProber, type ProbedAddress } from './arp/arp-prober.js';
export { ArpSocket } from './arp/arp-socket.js';
export { mayUseArp } from './arp/may-use-arp.js';
export { type Capability, takeCapabilities } from './capabilities/take-capabilities.js';
export { BROADCAST_MAC, type EthernetAddress, formatMacAddress, type Ipv4Number } from './ethernet/mac-address.js';
export { FramePolling } from './frames/frame-polling.js';
export { type FrameHandler, FrameSocket, type FrameSocketSettings } from './frames/frame-socket.js';
export {
  encodeUdpPayload,
  groupHardwareAddressOf,
  type Ipv6Packet,
  linkLocalAddressBeside,
  NextHeader,
  readUdpPayload,
  type UdpPayload,
} from './ipv6/ipv6-packet.js';
export { Ipv6PacketSocket, type Ipv6PacketSocketSettings, type ReceivedIpv6Packet } from './ipv6/ipv6-packet-socket.js';
export {
  closePath,
  type InterfaceAddress,
  isolateInterface,
  type Link,
  openPath,
  prepareIsolation,
  stopForwarding,
} from './isolation/interface-isolation.js';
export * as libc from './libc/libc.js';
export { MessageSlab } from './libc/message-slab.js';
export {
  type LinkTarget,
  SOCKADDR_IN_LENGTH,
  SOCKADDR_LL_LENGTH,
  writeSockaddrIn,
  writeSockaddrLl,
} from './libc/socket-address.js';
export { SocketError } from './libc/socket-error.js';
export { growReceiveBuffer, growSendBuffer, setSocketNumber } from './libc/socket-options.js';
export { bringUp } from './links/bring-up.js';
export { type ListedLink, listLinks } from './links/list-links.js';
export { Netlink } from './netlink/netlink.js';
export { NetlinkError } from './netlink/netlink-error.js';
export type { NetlinkRequest } from './netlink/netlink-message.js';
export { PacketSocket } from './packet/packet-socket.js';
export { UDP_HEADERS_LENGTH, writeUdpHeaders } from './packet/udp-headers.js';
export { openTcpListener } from './tcp/tcp-listener.js';
export { openUdpSocket } from './udp/open-udp-socket.js';
export type { SendFailure } from './udp/outgoing-burst.js';
export type { Delivery, OutgoingDatagram } from './udp/outgoing-datagram.js';
export type { Sender } from './udp/sender.js';
export { type DatagramHandler, UdpBurstSocket, type UdpBurstSocketSettings } from './udp/udp-burst-socket.js';
