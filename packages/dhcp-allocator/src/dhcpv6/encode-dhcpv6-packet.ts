import { ipv6AddressBytes } from '../address/ipv6-address.js';
import { concatenate } from '../wire/big-endian.js';
import type { Dhcpv6Message, Dhcpv6Relay } from './decode-dhcpv6-packet.js';
import { encodeDhcpv6Options } from './dhcpv6-options.js';
import { Dhcpv6Option, Dhcpv6Type } from './layout.js';

/** The octets of a message. */
export function encodeDhcpv6Message({ type, transactionId, options }: Dhcpv6Message): Uint8Array {
  const header = Uint8Array.of(type, transactionId >>> 16, transactionId >>> 8, transactionId);
  return concatenate([header, encodeDhcpv6Options(options)]);
}

/** The message with a Relay-forward or Relay-reply around it for each relay, the last one inside. */
export function encodeRelayed(message: Uint8Array, relays: readonly Dhcpv6Relay[]): Uint8Array {
  return relays.reduceRight(
    (inner, { type, hopCount, linkAddress, peerAddress, options }) =>
      concatenate([
        Uint8Array.of(type, hopCount),
        ipv6AddressBytes(linkAddress),
        ipv6AddressBytes(peerAddress),
        encodeDhcpv6Options([...options, [Dhcpv6Option.relayMessage, inner]]),
      ]),
    message,
  );
}

/**
 * What the relays need to hand a reply on: option 18 comes back as it was, and option 135 tells that the reply went to the relay's own port.
 *
 * Source: RFC 8415 §19.3, §21.18 ("the server MUST copy the Interface-Id option ..."), RFC 8357 §5.
 */
export function encodeRelayReplies(message: Uint8Array, relays: readonly Dhcpv6Relay[]): Uint8Array {
  const echoed: readonly number[] = [Dhcpv6Option.interfaceIdentifier, Dhcpv6Option.relaySourcePort];
  const answered = relays.map((relay) => ({
    ...relay,
    type: Dhcpv6Type.relayReply,
    options: relay.options.filter(([code]) => echoed.includes(code)),
  }));
  return encodeRelayed(message, answered);
}
