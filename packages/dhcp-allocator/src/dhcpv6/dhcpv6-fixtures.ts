/** Clients of DHCPv6 in tests: packets as clients and relays write them, and replies as they read them. */
import { ipv6AddressBytes, parseIpv6Address, parseIpv6Prefix, readIpv6Address } from '../address/ipv6-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import { type Dhcpv6Pool, serverIdentifierOf } from '../pool/dhcpv6-pool.js';
import { concatenate, readUint16, readUint32, toBytes } from '../wire/big-endian.js';
import { answerDhcpv6Packet, type Dhcpv6Serving, type Dhcpv6Source } from './answer-dhcpv6-packet.js';
import { type Dhcpv6Relay, decodeDhcpv6Packet } from './decode-dhcpv6-packet.js';
import { allOptions, type Dhcpv6OptionEntry, encodeDhcpv6Options, firstOption, readDhcpv6Options } from './dhcpv6-options.js';
import { encodeDhcpv6Message, encodeRelayed } from './encode-dhcpv6-packet.js';
import { Dhcpv6Option, Dhcpv6Type } from './layout.js';

export const ip = (text: string): bigint => parseIpv6Address(text) ?? -1n;
const prefix = (text: string) => parseIpv6Prefix(text) ?? { network: -1n, prefixLength: 0 };

export const [MAC_A, MAC_B, MAC_UNKNOWN] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:ff'] as const;
export const [ADDRESS_A, ADDRESS_B] = [ip('2001:db8::a'), ip('2001:db8::b')] as const;
export const DUID_OF_IMAGE = Uint8Array.of(0, 2, 0, 0, 0xab, 0x11, 1, 2, 3, 4, 5, 6, 7, 8);
export const SERVER = serverIdentifierOf('8e3ad0f2-6c1e-4c2b-9a55-0d6a3b1f7c10');
export const RELAY_ADDRESS = ip('2001:db8:f::1');

export const POOL: Dhcpv6Pool = {
  prefix: prefix('2001:db8::/64'),
  serverIdentifier: SERVER,
  preferredLifetimeSeconds: 3_600,
  validLifetimeSeconds: 7_200,
  rapidCommit: false,
  addressRegistration: true,
  relays: [prefix('2001:db8:f::/64')],
  advertises: true,
  options: {
    dnsServers: [ip('2001:db8::53'), ip('2001:db8::54')],
    domainSearch: ['example.org', 'Lab.example.org.'],
    ntpServers: [ip('2001:db8::123')],
    bootFileUrl: 'http://[2001:db8::80]/boot.efi',
  },
};

const ADDRESSES: ReadonlyMap<string, bigint> = new Map([
  [MAC_A, ADDRESS_A],
  [MAC_B, ADDRESS_B],
]);

/** A server of one pool, on the link of its interface and on a link behind relays. */
export function serving(pool: Dhcpv6Pool = POOL, addresses: ReadonlyMap<string, bigint> = ADDRESSES): Dhcpv6Serving {
  return {
    poolOf: (linkAddress) => (linkAddress === undefined || linkAddress === ip('2001:db8::1') ? pool : undefined),
    addressOf: (_, macAddress) => addresses.get(macAddress),
  };
}

/** An IA_NA with these addresses. */
export function association(iaid: number, ...addresses: readonly bigint[]): Dhcpv6OptionEntry {
  const options = addresses.map(
    (address): Dhcpv6OptionEntry => [Dhcpv6Option.address, concatenate([ipv6AddressBytes(address), new Uint8Array(8)])],
  );
  const header = concatenate([toBytes(iaid, 4), new Uint8Array(8)]);
  return [Dhcpv6Option.nonTemporaryAddresses, concatenate([header, encodeDhcpv6Options(options)])];
}

export function prefixAssociation(iaid: number): Dhcpv6OptionEntry {
  return [Dhcpv6Option.delegatedPrefixes, concatenate([toBytes(iaid, 4), new Uint8Array(8)])];
}

export function requesting(...codes: readonly number[]): Dhcpv6OptionEntry {
  return [Dhcpv6Option.requestedOptions, concatenate(codes.map((code) => toBytes(code, 2)))];
}

export const clientIdentifier = (duid: Uint8Array = DUID_OF_IMAGE): Dhcpv6OptionEntry => [Dhcpv6Option.clientIdentifier, duid];
export const serverIdentifier = (duid: Uint8Array = SERVER): Dhcpv6OptionEntry => [Dhcpv6Option.serverIdentifier, duid];

export type MessageName = keyof typeof Dhcpv6Type;

export function packet(type: MessageName | number, ...options: readonly Dhcpv6OptionEntry[]): Uint8Array {
  return encodeDhcpv6Message({ type: typeof type === 'number' ? type : Dhcpv6Type[type], transactionId: 0xabcdef, options });
}

/** A relay that names the MAC address of the client, and its own interface. */
export function relay(macAddress: string | undefined, more: Partial<Dhcpv6Relay> = {}): Dhcpv6Relay {
  const linkLayer: readonly Dhcpv6OptionEntry[] =
    macAddress === undefined
      ? []
      : [[Dhcpv6Option.clientLinkLayerAddress, concatenate([Uint8Array.of(0, 1), macAddressBytes(macAddress)])]];
  return {
    type: Dhcpv6Type.relayForward,
    hopCount: 0,
    linkAddress: ip('2001:db8::1'),
    peerAddress: ip('fe80::a'),
    options: [[Dhcpv6Option.interfaceIdentifier, Uint8Array.of(7, 7)], ...linkLayer],
    ...more,
  };
}

export function relayed(message: Uint8Array, ...relays: readonly Dhcpv6Relay[]): Uint8Array {
  return encodeRelayed(message, relays);
}

export function sourceOf(macAddress: string, more: Partial<Dhcpv6Source> = {}): Dhcpv6Source {
  return { address: ip('fe80::a'), port: 546, macAddress, ...more };
}

/** An IA_NA as a client reads it. */
export interface ReadAssociation {
  readonly iaid: number;
  readonly t1: number;
  readonly t2: number;
  /** Address, preferred and valid lifetime. */
  readonly addresses: readonly (readonly [bigint, number, number])[];
  readonly status: number | undefined;
}

/** A reply as a client reads it; undefined if there is none. */
export function readReply(bytes: Uint8Array) {
  const decoded = decodeDhcpv6Packet(bytes);
  if (!decoded.ok) throw new Error(decoded.reason);
  const { message, relays } = decoded;
  const { options } = message;
  const status = firstOption(options, Dhcpv6Option.statusCode);
  return {
    type: message.type,
    transactionId: message.transactionId,
    relays,
    client: firstOption(options, Dhcpv6Option.clientIdentifier),
    server: firstOption(options, Dhcpv6Option.serverIdentifier),
    status: status && readUint16(status, 0),
    associations: allOptions(options, Dhcpv6Option.nonTemporaryAddresses).map(readAssociation),
    codes: options.map(([code]) => code),
    option: (code: number) => firstOption(options, code),
  };
}

function readAssociation(value: Uint8Array): ReadAssociation {
  const options = readDhcpv6Options(value, 12) ?? [];
  const status = firstOption(options, Dhcpv6Option.statusCode);
  return {
    iaid: readUint32(value, 0),
    t1: readUint32(value, 4),
    t2: readUint32(value, 8),
    addresses: allOptions(options, Dhcpv6Option.address).map((one) => [
      readIpv6Address(one),
      readUint32(one, 16),
      readUint32(one, 20),
    ]),
    status: status && readUint16(status, 0),
  };
}

/** The server, and where the packet comes from. */
export interface Circumstances extends Partial<Dhcpv6Source> {
  readonly server?: Dhcpv6Serving;
}

/** The reply to a packet of this client. @throws Error with the reason if there is none. */
export function ask(macAddress: string, bytes: Uint8Array, { server = serving(), ...more }: Circumstances = {}) {
  const answer = answerDhcpv6Packet(bytes, sourceOf(macAddress, more), server);
  if (answer.kind === 'none') throw new Error(answer.reason);
  const { port, event, address, isAssignment } = answer;
  return { ...readReply(answer.bytes), port, event, address, isAssignment };
}

/** Why a packet of this client gets no reply; undefined if it gets one. */
export function whyNot(
  macAddress: string,
  bytes: Uint8Array,
  { server = serving(), ...more }: Circumstances = {},
): string | undefined {
  const answer = answerDhcpv6Packet(bytes, sourceOf(macAddress, more), server);
  return answer.kind === 'none' ? answer.reason : undefined;
}
