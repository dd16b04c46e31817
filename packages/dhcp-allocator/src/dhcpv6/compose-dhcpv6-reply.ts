/** The message that a decision means. */
import { type Ipv6Address, ipv6AddressBytes } from '../address/ipv6-address.js';
import { encodeText } from '../options/text.js';
import type { Dhcpv6Pool } from '../pool/dhcpv6-pool.js';
import { concatenate, toBytes } from '../wire/big-endian.js';
import type { AnsweredAssociation, Dhcpv6Reply } from './decide-dhcpv6.js';
import type { Dhcpv6Message } from './decode-dhcpv6-packet.js';
import type { Dhcpv6ClientMessage } from './dhcpv6-client-message.js';
import { type Dhcpv6OptionEntry, encodeDhcpv6Options } from './dhcpv6-options.js';
import { encodeDomainName } from './domain-name.js';
import { Dhcpv6Option, Dhcpv6Type } from './layout.js';

/** With it, a client does not wait for other servers, as it must for one that delegates prefixes. Source: RFC 8415 §18.2.1, §21.8. */
const HIGHEST_PREFERENCE = 255;
/** A day, IRT_DEFAULT. Source: RFC 8415 §7.6, §21.23. */
const REFRESH_SECONDS = 86_400;
/** Shares of the preferred lifetime. Source: RFC 8415 §21.4. */
const T1_SHARE = 0.5;
const T2_SHARE = 0.8;
/** A suboption. Source: RFC 5908 §4.1. */
const NTP_SERVER_ADDRESS = 1;

const MESSAGE_TYPES = {
  advertise: Dhcpv6Type.advertise,
  reply: Dhcpv6Type.reply,
  registered: Dhcpv6Type.addressRegistrationReply,
} as const;

/** @returns the message to encode. */
export function composeDhcpv6Reply(client: Dhcpv6ClientMessage, decision: Dhcpv6Reply, pool: Dhcpv6Pool): Dhcpv6Message {
  const type = MESSAGE_TYPES[decision.kind];
  const { transactionId, clientIdentifier } = client;
  const identified: Dhcpv6OptionEntry[] =
    clientIdentifier === undefined ? [] : [[Dhcpv6Option.clientIdentifier, clientIdentifier]];
  if (decision.kind === 'registered') return { type, transactionId, options: [...identified, ...registeredOption(client)] };
  const options: Dhcpv6OptionEntry[] = [
    ...identified,
    [Dhcpv6Option.serverIdentifier, pool.serverIdentifier],
    ...decision.associations.map((one) => associationOption(one, pool)),
    ...refusedPrefixes(client, decision.prefixStatus),
  ];
  if (decision.kind === 'advertise' && client.prefixAssociations.length === 0)
    options.push([Dhcpv6Option.preference, Uint8Array.of(HIGHEST_PREFERENCE)]);
  if (decision.isRapid) options.push([Dhcpv6Option.rapidCommit, new Uint8Array(0)]);
  if (decision.status !== undefined) options.push(statusOption(decision.status));
  if (decision.isInformation) options.push([Dhcpv6Option.informationRefreshTime, toBytes(REFRESH_SECONDS, 4)]);
  options.push(...poolOptions(pool).filter(([code]) => client.requestedOptions.has(code)));
  return { type, transactionId, options };
}

/** The same option as in the request. Source: RFC 9686 §4.3. */
function registeredOption({ registeredOption: value }: Dhcpv6ClientMessage): Dhcpv6OptionEntry[] {
  return value === undefined ? [] : [[Dhcpv6Option.address, value]];
}

function associationOption({ iaid, assigned, withdrawn, status }: AnsweredAssociation, pool: Dhcpv6Pool): Dhcpv6OptionEntry {
  const { preferredLifetimeSeconds, validLifetimeSeconds } = pool;
  const addresses = [
    ...(assigned === undefined ? [] : [addressOption(assigned, preferredLifetimeSeconds, validLifetimeSeconds)]),
    ...withdrawn.map((address) => addressOption(address, 0, 0)),
  ];
  const t1Seconds = assigned === undefined ? 0 : Math.max(1, Math.floor(preferredLifetimeSeconds * T1_SHARE));
  const t2Seconds = assigned === undefined ? 0 : Math.max(1, Math.floor(preferredLifetimeSeconds * T2_SHARE));
  const options = status === undefined ? addresses : [...addresses, statusOption(status)];
  const header = concatenate([toBytes(iaid, 4), toBytes(t1Seconds, 4), toBytes(t2Seconds, 4)]);
  return [Dhcpv6Option.nonTemporaryAddresses, concatenate([header, encodeDhcpv6Options(options)])];
}

function addressOption(address: Ipv6Address, preferredSeconds: number, validSeconds: number): Dhcpv6OptionEntry {
  return [Dhcpv6Option.address, concatenate([ipv6AddressBytes(address), toBytes(preferredSeconds, 4), toBytes(validSeconds, 4)])];
}

/** Prefixes are delegated by routers. */
function refusedPrefixes({ prefixAssociations }: Dhcpv6ClientMessage, status: number | undefined): Dhcpv6OptionEntry[] {
  if (status === undefined) return [];
  const options = encodeDhcpv6Options([statusOption(status)]);
  return prefixAssociations.map((iaid) => [
    Dhcpv6Option.delegatedPrefixes,
    concatenate([toBytes(iaid, 4), new Uint8Array(8), options]),
  ]);
}

/** Without a text: clients act on the code. Source: RFC 8415 §21.13. */
function statusOption(status: number): Dhcpv6OptionEntry {
  return [Dhcpv6Option.statusCode, toBytes(status, 2)];
}

function poolOptions({ options, addressRegistration }: Dhcpv6Pool): Dhcpv6OptionEntry[] {
  const { dnsServers, domainSearch, ntpServers, bootFileUrl } = options;
  // "This option MUST include one, and only one, time source suboption." Source: RFC 5908 §4.
  const ntp = ntpServers.map((address): Dhcpv6OptionEntry => {
    return [Dhcpv6Option.ntpServers, encodeDhcpv6Options([[NTP_SERVER_ADDRESS, ipv6AddressBytes(address)]])];
  });
  const all: readonly Dhcpv6OptionEntry[] = [
    [Dhcpv6Option.dnsServers, concatenate(dnsServers.map(ipv6AddressBytes))],
    [Dhcpv6Option.domainSearch, concatenate(domainSearch.map(encodeDomainName))],
    [Dhcpv6Option.sntpServers, concatenate(ntpServers.map(ipv6AddressBytes))],
    ...ntp,
    [Dhcpv6Option.bootFileUrl, encodeText(bootFileUrl ?? '')],
  ];
  const registration: Dhcpv6OptionEntry = [Dhcpv6Option.addressRegistration, new Uint8Array(0)];
  return [...all.filter(([, value]) => value.length > 0), ...(addressRegistration ? [registration] : [])];
}
