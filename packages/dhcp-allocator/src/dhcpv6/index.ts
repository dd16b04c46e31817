/**
 * DHCPv6 for declared clients as pure functions: a codec, and the decisions of a server whose clients are known by their MAC address.
 *
 * @packageDocumentation
 */

export {
  type AddressFamilies,
  type Dhcpv6Pool,
  type Dhcpv6PoolOptions,
  ipv6AddressBeside,
  ipv6Offset,
  serverIdentifierOf,
} from '../pool/dhcpv6-pool.js';
export {
  answerDhcpv6Packet,
  type Dhcpv6Answer,
  type Dhcpv6Serving,
  type Dhcpv6Source,
  type DroppedDhcpv6Reason,
} from './answer-dhcpv6-packet.js';
export {
  type AnsweredAssociation,
  type Dhcpv6Decision,
  type Dhcpv6Event,
  type Dhcpv6Reply,
  decideDhcpv6,
  type IgnoredDhcpv6Reason,
  type KnownDhcpv6Client,
} from './decide-dhcpv6.js';
export {
  type DecodedDhcpv6Packet,
  type Dhcpv6Message,
  type Dhcpv6Relay,
  decodeDhcpv6Packet,
  type MalformedDhcpv6Reason,
} from './decode-dhcpv6-packet.js';
export {
  type Dhcpv6ClientMessage,
  type Dhcpv6ClientMessageReading,
  type Dhcpv6ClientMessageType,
  type IdentityAssociation,
  type InvalidDhcpv6Reason,
  readDhcpv6ClientMessage,
} from './dhcpv6-client-message.js';
export { allOptions, type Dhcpv6OptionEntry, encodeDhcpv6Options, firstOption, readDhcpv6Options } from './dhcpv6-options.js';
export { encodeDhcpv6Message, encodeRelayed } from './encode-dhcpv6-packet.js';
export { DHCPV6_CLIENT_PORT, DHCPV6_SERVER_PORT, Dhcpv6Option, Dhcpv6Status, Dhcpv6Type } from './layout.js';
export { encodeNeighborSolicitation, type HeardNeighbor, readNeighborAdvertisement } from './neighbor-advertisement.js';
export { NEIGHBOR_DISCOVERY_HOP_LIMIT } from './neighbor-discovery.js';
export {
  type AdvertisedLink,
  encodeRouterAdvertisement,
  encodeRouterSolicitation,
  type HeardAdvertisement,
  isRouterSolicitation,
  NAT64_PREFIX_LENGTHS,
  readRouterAdvertisement,
} from './router-advertisement.js';
