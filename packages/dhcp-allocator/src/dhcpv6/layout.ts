/** Numbers of the protocol. Source: RFC 8415 §7, §21; the IANA registry of DHCPv6 parameters. */

/** Message types. Source: RFC 8415 §7.3, RFC 9686 §4. */
export const Dhcpv6Type = {
  solicit: 1,
  advertise: 2,
  request: 3,
  confirm: 4,
  renew: 5,
  rebind: 6,
  reply: 7,
  release: 8,
  decline: 9,
  informationRequest: 11,
  relayForward: 12,
  relayReply: 13,
  addressRegistrationInform: 36,
  addressRegistrationReply: 37,
} as const;

/** Option codes. Source: RFC 8415 §21, and the RFC at the line. */
export const Dhcpv6Option = {
  clientIdentifier: 1,
  serverIdentifier: 2,
  nonTemporaryAddresses: 3,
  /** IA_TA, which RFC 9915 makes obsolete. */
  temporaryAddresses: 4,
  address: 5,
  requestedOptions: 6,
  preference: 7,
  relayMessage: 9,
  statusCode: 13,
  rapidCommit: 14,
  interfaceIdentifier: 18,
  /** RFC 3646 §3. */
  dnsServers: 23,
  /** RFC 3646 §4. */
  domainSearch: 24,
  delegatedPrefixes: 25,
  /** RFC 4075 §3. */
  sntpServers: 31,
  informationRefreshTime: 32,
  /** RFC 5908 §4. */
  ntpServers: 56,
  /** RFC 5970 §3.1. */
  bootFileUrl: 59,
  /** RFC 6939 §4. */
  clientLinkLayerAddress: 79,
  /** RFC 8357 §4. */
  relaySourcePort: 135,
  /** RFC 9686 §4.1. */
  addressRegistration: 148,
} as const;

/** Status codes. Source: RFC 8415 §21.13. */
export const Dhcpv6Status = {
  /** Success. */
  success: 0,
  /** NoAddrsAvail. */
  noAddressesAvailable: 2,
  /** NoBinding. */
  noBinding: 3,
  /** NotOnLink. */
  notOnLink: 4,
  /** NoPrefixAvail. */
  noPrefixAvailable: 6,
} as const;

/** The UDP port of clients. Source: RFC 8415 §7.2. */
export const DHCPV6_CLIENT_PORT = 546;
/** The UDP port of servers and relays. Source: RFC 8415 §7.2. */
export const DHCPV6_SERVER_PORT = 547;

/** "A DUID consists of a 2-octet type code ... followed by a variable number of octets", at least 1 and at most 128. Source: RFC 8415 §11.1. */
export const SHORTEST_DUID = 3;
export const LONGEST_DUID = 130;
/** Octets of a message that a server reads: its reply, which repeats parts of it, has room in a datagram. */
export const LONGEST_MESSAGE = 8_192;
/** Relays between a client and a server. Source: RFC 8415 §7.6, HOP_COUNT_LIMIT. */
export const MOST_RELAYS = 8;
/** A client has one for each use; more are a forgery. */
export const MOST_IDENTITY_ASSOCIATIONS = 8;
