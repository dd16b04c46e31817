/**
 * Where the fields of a DHCPv4 message lie, in octets from its start. Source: RFC 2131 §2, figure 1 and table 1.
 *
 *   0 op | 1 htype | 2 hlen | 3 hops | 4 xid | 8 secs | 10 flags | 12 ciaddr | 16 yiaddr | 20 siaddr | 24 giaddr |
 *   28 chaddr (16) | 44 sname (64) | 108 file (128) | 236 magic cookie | 240 options
 */
export const Offset = {
  op: 0,
  htype: 1,
  hlen: 2,
  hops: 3,
  xid: 4,
  secs: 8,
  flags: 10,
  ciaddr: 12,
  yiaddr: 16,
  siaddr: 20,
  giaddr: 24,
  chaddr: 28,
  sname: 44,
  file: 108,
  cookie: 236,
  options: 240,
} as const;

export const CHADDR_LENGTH = 16;
export const SNAME_LENGTH = 64;
export const FILE_LENGTH = 128;

/** Source: RFC 2131 §3. */
export const MAGIC_COOKIE = 0x63825363;

/** BOOTP relays and clients drop what is shorter. Source: RFC 951 §3, RFC 1542 §2.1. */
export const MINIMUM_MESSAGE_LENGTH = 300;

/** What every client must accept: an IP datagram of 576 octets, less 28 of IP and UDP header. Source: RFC 2131 §2. */
export const DEFAULT_MAXIMUM_MESSAGE_LENGTH = 548;

/** Octets of IP and UDP header, which option 57 includes. Source: RFC 2132 §9.10. */
export const IP_UDP_HEADER_LENGTH = 28;

/** An Ethernet frame's worth of payload: what a reply may grow to where the client allows it. */
export const LARGEST_REPLY_LENGTH = 1500 - IP_UDP_HEADER_LENGTH;

export const OP_REQUEST = 1;
export const OP_REPLY = 2;

/** htype of Ethernet. Source: IANA "Hardware Types". */
export const HTYPE_ETHERNET = 1;

/** The one flag: leftmost bit of `flags`. Source: RFC 2131 §2, figure 2. */
export const BROADCAST_FLAG = 0x8000;

/** The codes of the options that the server itself reads or writes. Source: RFC 2132, and the RFCs of later options. */
export const OptionCode = {
  pad: 0,
  subnetMask: 1,
  routers: 3,
  domainNameServers: 6,
  hostName: 12,
  domainName: 15,
  interfaceMtu: 26,
  broadcastAddress: 28,
  ntpServers: 42,
  vendorSpecific: 43,
  requestedAddress: 50,
  leaseTime: 51,
  overload: 52,
  messageType: 53,
  serverIdentifier: 54,
  parameterRequestList: 55,
  message: 56,
  maximumMessageSize: 57,
  renewalTime: 58,
  rebindingTime: 59,
  vendorClass: 60,
  clientIdentifier: 61,
  tftpServerName: 66,
  bootFileName: 67,
  rapidCommit: 80,
  relayAgentInformation: 82,
  clientArchitecture: 93,
  ipv6OnlyPreferred: 108,
  domainSearch: 119,
  classlessStaticRoutes: 121,
  tftpServerAddresses: 150,
  end: 255,
} as const;

/** Values of option 53. Source: RFC 2132 §9.6. */
export const MessageTypeCode = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;

/** The type of a DHCP message (option 53), as its name in RFC 2132 §9.6. */
export type MessageType = keyof typeof MessageTypeCode;

const MESSAGE_TYPES: readonly MessageType[] = ['discover', 'offer', 'request', 'decline', 'ack', 'nak', 'release', 'inform'];

/** The name of a value of option 53, or undefined if it is unknown. */
export function messageTypeOf(code: number): MessageType | undefined {
  return MESSAGE_TYPES[code - 1];
}
