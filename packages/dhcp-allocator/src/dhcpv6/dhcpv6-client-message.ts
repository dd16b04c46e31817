/** What a client's message says, after the checks that do not depend on a pool. */
import { type Ipv6Address, readIpv6Address } from '../address/ipv6-address.js';
import { readUint16, readUint32 } from '../wire/big-endian.js';
import type { Dhcpv6Message } from './decode-dhcpv6-packet.js';
import { allOptions, firstOption, readDhcpv6Options } from './dhcpv6-options.js';
import { Dhcpv6Option, Dhcpv6Type, LONGEST_DUID, MOST_IDENTITY_ASSOCIATIONS, SHORTEST_DUID } from './layout.js';

/** The messages that clients send. */
export type Dhcpv6ClientMessageType =
  | 'solicit'
  | 'request'
  | 'confirm'
  | 'renew'
  | 'rebind'
  | 'release'
  | 'decline'
  | 'informationRequest'
  | 'addressRegistrationInform';

/** An identity association (IA_NA), and the addresses that the client names in it. Source: RFC 8415 §21.4. */
export interface IdentityAssociation {
  /** 32 bits. */
  readonly iaid: number;
  readonly addresses: readonly Ipv6Address[];
}

/** A client's message, without the parts that no server needs. */
export interface Dhcpv6ClientMessage {
  readonly type: Dhcpv6ClientMessageType;
  readonly transactionId: number;
  /** Undefined only in an Information-request. */
  readonly clientIdentifier: Uint8Array | undefined;
  readonly serverIdentifier: Uint8Array | undefined;
  readonly associations: readonly IdentityAssociation[];
  /** The identifiers of IA_PD options: prefixes that the client wants. */
  readonly prefixAssociations: readonly number[];
  /** Codes of the options that the client wants (option 6). */
  readonly requestedOptions: ReadonlySet<number>;
  readonly wantsRapidCommit: boolean;
  /** The address of an ADDR-REG-INFORM. */
  readonly registered: Ipv6Address | undefined;
  /** The option with that address, as it came. */
  readonly registeredOption: Uint8Array | undefined;
  /** True if the client says that it does not use that address any more: its valid lifetime is 0. */
  readonly isUnregistered: boolean;
}

/** Why a message is not one that a server answers. */
export type InvalidDhcpv6Reason =
  | 'message-type-unexpected'
  | 'client-identifier-missing'
  | 'client-identifier-invalid'
  | 'server-identifier-missing'
  | 'server-identifier-unexpected'
  | 'identity-association-invalid'
  | 'identity-association-unexpected'
  | 'too-many-identity-associations'
  | 'requested-options-unexpected'
  | 'address-missing';

/** What a message says, or why no server answers it. */
export type Dhcpv6ClientMessageReading =
  | { readonly ok: true; readonly client: Dhcpv6ClientMessage }
  | { readonly ok: false; readonly reason: InvalidDhcpv6Reason };

const CLIENT_TYPES = new Map<number, Dhcpv6ClientMessageType>(
  (
    [
      'solicit',
      'request',
      'confirm',
      'renew',
      'rebind',
      'release',
      'decline',
      'informationRequest',
      'addressRegistrationInform',
    ] as const
  ).map((name) => [Dhcpv6Type[name], name]),
);

/** Discarded without a server identifier. Source: RFC 8415 §16.4, §16.6, §16.8, §16.9. */
const TO_ONE_SERVER: ReadonlySet<Dhcpv6ClientMessageType> = new Set(['request', 'renew', 'release', 'decline']);
/** Discarded with a server identifier. Source: RFC 8415 §16.2, §16.5, §16.7; RFC 9686 §4.2.1. */
const TO_ALL_SERVERS: ReadonlySet<Dhcpv6ClientMessageType> = new Set([
  'solicit',
  'confirm',
  'rebind',
  'addressRegistrationInform',
]);

const IA_NA_HEADER = 12;
const IA_PD_HEADER = 12;
const ADDRESS_HEADER = 24;

/** @returns what the message says, or why no server answers it. Source: RFC 8415 §16. */
export function readDhcpv6ClientMessage({ type: number, transactionId, options }: Dhcpv6Message): Dhcpv6ClientMessageReading {
  const type = CLIENT_TYPES.get(number);
  if (type === undefined) return invalid('message-type-unexpected');
  const clientIdentifier = firstOption(options, Dhcpv6Option.clientIdentifier);
  const serverIdentifier = firstOption(options, Dhcpv6Option.serverIdentifier);
  const wrongIdentifier = findWrongIdentifier(type, clientIdentifier, serverIdentifier);
  if (wrongIdentifier !== undefined) return invalid(wrongIdentifier);
  const wanted = readAssociations(type, options);
  if (typeof wanted === 'string') return invalid(wanted);
  const registered = type === 'addressRegistrationInform' ? readRegistered(options) : NOT_REGISTERED;
  if (typeof registered === 'string') return invalid(registered);
  const client: Dhcpv6ClientMessage = {
    ...{ type, transactionId, clientIdentifier, serverIdentifier, ...wanted, ...registered },
    requestedOptions: readRequestedOptions(firstOption(options, Dhcpv6Option.requestedOptions)),
    wantsRapidCommit: firstOption(options, Dhcpv6Option.rapidCommit) !== undefined,
  };
  return { ok: true, client };
}

type WantedAssociations = Pick<Dhcpv6ClientMessage, 'associations' | 'prefixAssociations'>;

function readAssociations(
  type: Dhcpv6ClientMessageType,
  options: Dhcpv6Message['options'],
): WantedAssociations | InvalidDhcpv6Reason {
  const wanted = allOptions(options, Dhcpv6Option.nonTemporaryAddresses);
  const prefixes = allOptions(options, Dhcpv6Option.delegatedPrefixes);
  const temporary = allOptions(options, Dhcpv6Option.temporaryAddresses);
  const count = wanted.length + prefixes.length + temporary.length;
  if (count > MOST_IDENTITY_ASSOCIATIONS) return 'too-many-identity-associations';
  // Discarded with any IA option. Source: RFC 8415 §16.12.
  if (type === 'informationRequest' && count > 0) return 'identity-association-unexpected';
  const associations = wanted.map(readAssociation);
  if (!associations.every((one) => one !== undefined) || prefixes.some(({ length }) => length < IA_PD_HEADER))
    return 'identity-association-invalid';
  return { associations, prefixAssociations: prefixes.map((value) => readUint32(value, 0)) };
}

function invalid(reason: InvalidDhcpv6Reason): Dhcpv6ClientMessageReading {
  return { ok: false, reason };
}

function findWrongIdentifier(
  type: Dhcpv6ClientMessageType,
  client: Uint8Array | undefined,
  server: Uint8Array | undefined,
): InvalidDhcpv6Reason | undefined {
  if (client === undefined && type !== 'informationRequest') return 'client-identifier-missing';
  if (client !== undefined && (client.length < SHORTEST_DUID || client.length > LONGEST_DUID)) return 'client-identifier-invalid';
  if (server === undefined && TO_ONE_SERVER.has(type)) return 'server-identifier-missing';
  if (server !== undefined && TO_ALL_SERVERS.has(type)) return 'server-identifier-unexpected';
  return undefined;
}

/** Undefined if it is too short, has a truncated option or an address that is none, or contains another association. */
function readAssociation(value: Uint8Array): IdentityAssociation | undefined {
  const options = value.length < IA_NA_HEADER ? undefined : readDhcpv6Options(value, IA_NA_HEADER);
  const nested: readonly number[] = [Dhcpv6Option.nonTemporaryAddresses, Dhcpv6Option.delegatedPrefixes];
  if (options === undefined || options.some(([code]) => nested.includes(code))) return undefined;
  const addresses = allOptions(options, Dhcpv6Option.address);
  if (addresses.some(({ length }) => length < ADDRESS_HEADER)) return undefined;
  return { iaid: readUint32(value, 0), addresses: addresses.map((address) => readIpv6Address(address)) };
}

type Registered = Pick<Dhcpv6ClientMessage, 'registered' | 'registeredOption' | 'isUnregistered'>;

const NOT_REGISTERED: Registered = { registered: undefined, registeredOption: undefined, isUnregistered: false };
const VALID_LIFETIME_AT = 20;

/** One address, and no request for options. Source: RFC 9686 §4.2.1. */
function readRegistered(options: Dhcpv6Message['options']): Registered | InvalidDhcpv6Reason {
  if (firstOption(options, Dhcpv6Option.requestedOptions) !== undefined) return 'requested-options-unexpected';
  const [value, ...others] = allOptions(options, Dhcpv6Option.address);
  if (value === undefined || others.length > 0 || value.length < ADDRESS_HEADER) return 'address-missing';
  return {
    registered: readIpv6Address(value),
    registeredOption: value,
    isUnregistered: readUint32(value, VALID_LIFETIME_AT) === 0,
  };
}

function readRequestedOptions(value: Uint8Array | undefined): ReadonlySet<number> {
  const codes = new Set<number>();
  for (let at = 0; value !== undefined && at + 1 < value.length; at += 2) codes.add(readUint16(value, at));
  return codes;
}
