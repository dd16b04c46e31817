import { type Ipv6Address, readIpv6Address } from '../address/ipv6-address.js';
import { readUint16 } from '../wire/big-endian.js';
import { type Dhcpv6OptionEntry, firstOption, readDhcpv6Options } from './dhcpv6-options.js';
import { Dhcpv6Option, Dhcpv6Type, MOST_RELAYS } from './layout.js';

/** A message between a client and a server. Source: RFC 8415 §8. */
export interface Dhcpv6Message {
  readonly type: number;
  /** 24 bits. */
  readonly transactionId: number;
  readonly options: readonly Dhcpv6OptionEntry[];
}

/** What one relay added to a message. Source: RFC 8415 §9.1. */
export interface Dhcpv6Relay {
  /** `Dhcpv6Type.relayForward`, or `Dhcpv6Type.relayReply` on the way back. */
  readonly type: number;
  /** 0 at the relay that is next to the client. */
  readonly hopCount: number;
  /** An address of the client's link; 0 if the relay identifies it by option 18 alone. */
  readonly linkAddress: Ipv6Address;
  /** Where the relay received the message from. */
  readonly peerAddress: Ipv6Address;
  /** Without the relayed message. */
  readonly options: readonly Dhcpv6OptionEntry[];
}

/** Why octets are not a DHCPv6 message. */
export type MalformedDhcpv6Reason = 'message-too-short' | 'option-truncated' | 'relay-message-missing' | 'too-many-relays';

/** A client's message, and the relays on its way: the one next to the client last. */
export type DecodedDhcpv6Packet =
  | { readonly ok: true; readonly message: Dhcpv6Message; readonly relays: readonly Dhcpv6Relay[] }
  | { readonly ok: false; readonly reason: MalformedDhcpv6Reason };

const MESSAGE_HEADER = 4;
const RELAY_HEADER = 34;

/**
 * The message in the octets of a packet, or why there is none. Never throws, whatever the octets. Values are views: they are valid as long as
 * `bytes` keeps its content.
 *
 * Source: RFC 8415 §8, §9, §19.1.2 (relays in relays).
 */
export function decodeDhcpv6Packet(bytes: Uint8Array): DecodedDhcpv6Packet {
  const relays: Dhcpv6Relay[] = [];
  let rest = bytes;
  while (rest[0] === Dhcpv6Type.relayForward || rest[0] === Dhcpv6Type.relayReply) {
    if (relays.length === MOST_RELAYS) return malformed('too-many-relays');
    if (rest.length < RELAY_HEADER) return malformed('message-too-short');
    const options = readDhcpv6Options(rest, RELAY_HEADER);
    if (options === undefined) return malformed('option-truncated');
    const inner = firstOption(options, Dhcpv6Option.relayMessage);
    if (inner === undefined) return malformed('relay-message-missing');
    relays.push({
      type: rest[0],
      hopCount: rest[1] as number,
      linkAddress: readIpv6Address(rest, 2),
      peerAddress: readIpv6Address(rest, 18),
      options: options.filter(([code]) => code !== Dhcpv6Option.relayMessage),
    });
    rest = inner;
  }
  if (rest.length < MESSAGE_HEADER) return malformed('message-too-short');
  const options = readDhcpv6Options(rest, MESSAGE_HEADER);
  if (options === undefined) return malformed('option-truncated');
  const transactionId = ((rest[1] as number) << 16) | readUint16(rest, 2);
  return { ok: true, relays, message: { type: rest[0] as number, transactionId, options } };
}

function malformed(reason: MalformedDhcpv6Reason): DecodedDhcpv6Packet {
  return { ok: false, reason };
}
