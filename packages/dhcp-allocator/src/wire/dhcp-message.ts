import type { Ipv4Address } from '../address/ipv4-address.js';
import type { DhcpOptions } from './dhcp-options.js';

/**
 * One DHCPv4 message, field by field as RFC 2131 names them; addresses of 0 mean none.
 * Source: RFC 2131 §2, table 1.
 */
export interface DhcpMessage {
  /** 1 BOOTREQUEST, 2 BOOTREPLY. */
  readonly op: number;
  /** Hardware type, 1 for Ethernet. */
  readonly htype: number;
  /** Octets of `chaddr` that count, 0 to 16. */
  readonly hlen: number;
  readonly hops: number;
  /** Transaction id, 32 bits. */
  readonly xid: number;
  /** Seconds since the client began, 16 bits. */
  readonly secs: number;
  /** 16 bits; 0x8000 asks for broadcast replies. */
  readonly flags: number;
  readonly ciaddr: Ipv4Address;
  readonly yiaddr: Ipv4Address;
  readonly siaddr: Ipv4Address;
  readonly giaddr: Ipv4Address;
  /** Up to 16 octets. */
  readonly chaddr: Uint8Array;
  /** Up to 64 octets, without trailing NULs; empty when the field carried options. */
  readonly sname: Uint8Array;
  /** Up to 128 octets, without trailing NULs; empty when the field carried options. */
  readonly file: Uint8Array;
  /** Without PAD, END and overload (52): those belong to the packet, not to the message. */
  readonly options: DhcpOptions;
}
