/** From the octets of a packet to the octets of the reply. */
import { type Ipv6Address, prefixContains } from '../address/ipv6-address.js';
import { isGroupMacAddress, type MacAddress, readMacAddress } from '../address/mac-address.js';
import type { Dhcpv6Pool } from '../pool/dhcpv6-pool.js';
import { readUint16 } from '../wire/big-endian.js';
import { composeDhcpv6Reply } from './compose-dhcpv6-reply.js';
import { type AnsweredAssociation, type Dhcpv6Reply, decideDhcpv6, type IgnoredDhcpv6Reason } from './decide-dhcpv6.js';
import { type Dhcpv6Relay, decodeDhcpv6Packet, type MalformedDhcpv6Reason } from './decode-dhcpv6-packet.js';
import { type Dhcpv6ClientMessage, type InvalidDhcpv6Reason, readDhcpv6ClientMessage } from './dhcpv6-client-message.js';
import { firstOption } from './dhcpv6-options.js';
import { encodeDhcpv6Message, encodeRelayReplies } from './encode-dhcpv6-packet.js';
import { DHCPV6_CLIENT_PORT, DHCPV6_SERVER_PORT, Dhcpv6Option, Dhcpv6Status, Dhcpv6Type, LONGEST_MESSAGE } from './layout.js';

/** Where a packet came from. */
export interface Dhcpv6Source {
  readonly address: Ipv6Address;
  /** UDP. */
  readonly port: number;
  /** The source of the Ethernet frame. */
  readonly macAddress: MacAddress;
}

/** What the server serves. */
export interface Dhcpv6Serving {
  /** The pool of a link. @param linkAddress - as a relay names it; undefined for the link of the interface. */
  readonly poolOf: (linkAddress: Ipv6Address | undefined) => Dhcpv6Pool | undefined;
  /** The address of a client on the link of the pool; undefined if it is not declared. */
  readonly addressOf: (pool: Dhcpv6Pool, macAddress: MacAddress) => Ipv6Address | undefined;
}

/** Why a packet gets no reply. */
export type DroppedDhcpv6Reason =
  | MalformedDhcpv6Reason
  | InvalidDhcpv6Reason
  | IgnoredDhcpv6Reason
  | 'message-too-long'
  | 'link-layer-address-missing'
  | 'link-not-served'
  | 'relay-not-allowed'
  | 'source-address-other';

/** A reply goes to the address that the packet came from. */
export type Dhcpv6Answer =
  | {
      readonly kind: 'reply';
      readonly bytes: Uint8Array;
      /** UDP. */
      readonly port: number;
      /** The client, which is not the receiver of the frame if a relay is. */
      readonly macAddress: MacAddress;
      readonly pool: Dhcpv6Pool;
      readonly event: Dhcpv6Reply['event'];
      /** The address that the event is about. */
      readonly address: Ipv6Address | undefined;
      readonly message: Pick<Dhcpv6ClientMessage, 'type' | 'transactionId'>;
      /** True if it offers or assigns an address, and ends no other one: at most it refuses to give the client a second one. */
      readonly isAssignment: boolean;
    }
  | { readonly kind: 'none'; readonly reason: DroppedDhcpv6Reason };

const ETHERNET = 1;
const ETHERNET_OCTETS = 6;

/**
 * Answers one packet. Never throws, whatever the octets.
 *
 * The client is the MAC address of its frame, or the one that the relay next to it names (option 79). Without that there is no reply: a DUID says who
 * installed a machine, not which machine it is.
 *
 * Source: RFC 8415 §18.3, §18.4; RFC 6939.
 */
export function answerDhcpv6Packet(bytes: Uint8Array, source: Dhcpv6Source, serving: Dhcpv6Serving): Dhcpv6Answer {
  if (bytes.length > LONGEST_MESSAGE) return none('message-too-long');
  const decoded = decodeDhcpv6Packet(bytes);
  if (!decoded.ok) return none(decoded.reason);
  const { relays, message } = decoded;
  if (relays.some(({ type }) => type !== Dhcpv6Type.relayForward)) return none('message-type-unexpected');
  const reading = readDhcpv6ClientMessage(message);
  if (!reading.ok) return none(reading.reason);
  const from = identify(relays, source, serving);
  return typeof from === 'string' ? none(from) : answerClient(reading.client, { ...from, relays, source }, serving);
}

interface Identified {
  readonly pool: Dhcpv6Pool;
  readonly macAddress: MacAddress;
}

function identify(
  relays: readonly Dhcpv6Relay[],
  source: Dhcpv6Source,
  serving: Dhcpv6Serving,
): Identified | DroppedDhcpv6Reason {
  const linkAddress = linkAddressOf(relays);
  const isUnnamed = relays.length > 0 && linkAddress === undefined;
  const pool = isUnnamed ? undefined : serving.poolOf(linkAddress);
  if (pool === undefined) return 'link-not-served';
  if (!onTheWay(relays, source).every((one) => pool.relays.some((prefix) => prefixContains(prefix, one))))
    return 'relay-not-allowed';
  const macAddress = macAddressOf(relays, source);
  if (macAddress === undefined || isGroupMacAddress(macAddress)) return 'link-layer-address-missing';
  return { pool, macAddress };
}

interface Origin extends Identified {
  readonly relays: readonly Dhcpv6Relay[];
  readonly source: Dhcpv6Source;
}

function answerClient(
  client: Dhcpv6ClientMessage,
  { pool, macAddress, relays, source }: Origin,
  serving: Dhcpv6Serving,
): Dhcpv6Answer {
  // A client registers the address that it sends from. Source: RFC 9686 §4.2.1.
  if (client.registered !== undefined && client.registered !== (relays.at(-1)?.peerAddress ?? source.address))
    return none('source-address-other');
  const address = serving.addressOf(pool, macAddress);
  const decision = decideDhcpv6(client, address === undefined ? { pool } : { pool, address });
  if (decision.kind === 'ignore') return none(decision.reason);
  const reply = encodeDhcpv6Message(composeDhcpv6Reply(client, decision, pool));
  return {
    kind: 'reply',
    bytes: encodeRelayReplies(reply, relays),
    port: portOf(relays, source),
    ...{ macAddress, pool, event: decision.event, address: client.registered ?? address },
    ...{ message: client, isAssignment: isAssignment(decision) },
  };
}

function isAssignment({ associations }: Dhcpv6Reply): boolean {
  const endsNone = ({ withdrawn, status = Dhcpv6Status.noAddressesAvailable }: AnsweredAssociation) =>
    withdrawn.length === 0 && status === Dhcpv6Status.noAddressesAvailable;
  return associations.some(({ assigned }) => assigned !== undefined) && associations.every(endsNone);
}

function none(reason: DroppedDhcpv6Reason): Dhcpv6Answer {
  return { kind: 'none', reason };
}

/**
 * The addresses of the relays. Each but the first one is known from the relay before it: the relay next to the client may be a host that only says that
 * it is one, and a relay forwards its message.
 */
function onTheWay(relays: readonly Dhcpv6Relay[], { address }: Dhcpv6Source): readonly Ipv6Address[] {
  return relays.length === 0 ? [] : [address, ...relays.slice(0, -1).map(({ peerAddress }) => peerAddress)];
}

/** Returns what the relay nearest to the client says that names a link: others are on its way. Source: RFC 8415 §13.1. */
function linkAddressOf(relays: readonly Dhcpv6Relay[]): Ipv6Address | undefined {
  return relays.findLast(({ linkAddress }) => linkAddress !== 0n)?.linkAddress;
}

/** Only the relay next to the client knows its address. Source: RFC 6939 §4, §5. */
function macAddressOf(relays: readonly Dhcpv6Relay[], { macAddress }: Dhcpv6Source): MacAddress | undefined {
  const nearest = relays.at(-1);
  if (nearest === undefined) return macAddress;
  const value = firstOption(nearest.options, Dhcpv6Option.clientLinkLayerAddress);
  if (value?.length !== 2 + ETHERNET_OCTETS || readUint16(value, 0) !== ETHERNET) return undefined;
  return readMacAddress(value, 2);
}

/** A relay that says so gets its reply at its own port. Source: RFC 8415 §7.2, RFC 8357 §5. */
function portOf([first]: readonly Dhcpv6Relay[], { port }: Dhcpv6Source): number {
  if (first === undefined) return DHCPV6_CLIENT_PORT;
  return firstOption(first.options, Dhcpv6Option.relaySourcePort) === undefined ? DHCPV6_SERVER_PORT : port;
}
