/**
 * The decisions of a DHCPv6 server whose clients are declared: the MAC address of the client chooses its address, whatever DUID it sends. A machine
 * whose image was cloned, or that boots firmware, installer and system one after the other, keeps its own address.
 */
import { type Ipv6Address, prefixContains } from '../address/ipv6-address.js';
import type { Dhcpv6Pool } from '../pool/dhcpv6-pool.js';
import type { Dhcpv6ClientMessage, Dhcpv6ClientMessageType, IdentityAssociation } from './dhcpv6-client-message.js';
import { Dhcpv6Status } from './layout.js';

/** What the server knows about the client: the pool of its link, and its address there if it is declared. */
export interface KnownDhcpv6Client {
  readonly pool: Dhcpv6Pool;
  readonly address?: Ipv6Address;
}

/** Why a client gets no reply. */
export type IgnoredDhcpv6Reason =
  | 'unknown-client'
  | 'other-server-selected'
  | 'nothing-requested'
  | 'nothing-to-confirm'
  | 'address-not-on-link'
  | 'registration-not-enabled';

/** An identity association of a reply. */
export interface AnsweredAssociation {
  readonly iaid: number;
  /** The client's address with the lifetimes of the pool; undefined if this association does not have it. */
  readonly assigned: Ipv6Address | undefined;
  /** Addresses that the client must not use any longer: their lifetimes are 0. */
  readonly withdrawn: readonly Ipv6Address[];
  /** A value of `Dhcpv6Status`; undefined for success. */
  readonly status: number | undefined;
}

/** What a message means for an address. Registered: the client chose it itself, and uses it until it is unregistered. */
export type Dhcpv6Event = 'assigned' | 'released' | 'declined' | 'registered' | 'unregistered';

/** A message to send, and what it means for the address of the client. */
export interface Dhcpv6Reply {
  readonly kind: 'advertise' | 'reply' | 'registered';
  readonly associations: readonly AnsweredAssociation[];
  /** The status of each IA_PD, a value of `Dhcpv6Status`; undefined if they have no place in the reply. */
  readonly prefixStatus?: number;
  /** The status of the whole message: a value of `Dhcpv6Status`. */
  readonly status?: number;
  /** True for a Reply to a Solicit. */
  readonly isRapid?: true;
  /** The reply to an Information-request has options alone. */
  readonly isInformation?: true;
  readonly event?: Dhcpv6Event;
}

/** A reply, or why there is none. */
export type Dhcpv6Decision = Dhcpv6Reply | { readonly kind: 'ignore'; readonly reason: IgnoredDhcpv6Reason };

type Decide = (client: Dhcpv6ClientMessage, known: KnownDhcpv6Client) => Dhcpv6Decision;

/** Decides how to answer one message of a client. Never sends, logs or reads a clock. Source: RFC 8415 §18.3. */
export function decideDhcpv6(client: Dhcpv6ClientMessage, known: KnownDhcpv6Client): Dhcpv6Decision {
  if (client.serverIdentifier !== undefined && !isEqual(client.serverIdentifier, known.pool.serverIdentifier))
    return ignore('other-server-selected');
  return DECISIONS[client.type](client, known);
}

const DECISIONS: Readonly<Record<Dhcpv6ClientMessageType, Decide>> = {
  solicit: decideSolicit,
  request: decideRequest,
  confirm: decideConfirm,
  renew: ({ associations }, known) => ({ ...reply(extended(associations, known)), prefixStatus: Dhcpv6Status.noBinding }),
  rebind: decideRebind,
  release: (client, known) => decideReturn(client, known, 'released'),
  decline: (client, known) => decideReturn(client, known, 'declined'),
  informationRequest: (_, { address }) =>
    address === undefined ? ignore('unknown-client') : { kind: 'reply', associations: [], isInformation: true },
  addressRegistrationInform: decideRegistration,
};

function ignore(reason: IgnoredDhcpv6Reason): Dhcpv6Decision {
  return { kind: 'ignore', reason };
}

function decideSolicit(client: Dhcpv6ClientMessage, { pool, address }: KnownDhcpv6Client): Dhcpv6Decision {
  // Another server may know it.
  if (address === undefined) return ignore('unknown-client');
  // A client that wants prefixes alone goes on looking for the server that has them.
  if (client.associations.length === 0) return ignore('nothing-requested');
  const associations = assigned(client.associations, address);
  const prefixStatus = Dhcpv6Status.noPrefixAvailable;
  // A client that wants prefixes, too, may choose a server that delegates them.
  const isRapid = client.wantsRapidCommit && pool.rapidCommit && client.prefixAssociations.length === 0;
  if (!isRapid) return { kind: 'advertise', associations, prefixStatus };
  return { ...reply(associations), prefixStatus, isRapid: true };
}

function decideRequest(client: Dhcpv6ClientMessage, { pool, address }: KnownDhcpv6Client): Dhcpv6Decision {
  const prefixStatus = Dhcpv6Status.noPrefixAvailable;
  if (address === undefined)
    return { ...reply(client.associations.map(refused(Dhcpv6Status.noAddressesAvailable))), prefixStatus };
  // "the server MUST return the IA to the client with a Status Code option with the value NotOnLink": such a client has moved. Source: §18.3.2.
  const isOnLink = ({ addresses }: IdentityAssociation) => addresses.every((one) => prefixContains(pool.prefix, one));
  const onLink = client.associations.filter(isOnLink);
  const owner = ownerOf(onLink, address);
  const associations = client.associations.map((one) => {
    if (!onLink.includes(one)) return refused(Dhcpv6Status.notOnLink)(one);
    return one === owner ? withAddress(one, address) : refused(Dhcpv6Status.noAddressesAvailable)(one);
  });
  return { ...reply(associations), prefixStatus };
}

/** All servers receive it: another one may know the client, or have delegated its prefixes. Source: RFC 8415 §18.3.5. */
function decideRebind({ associations }: Dhcpv6ClientMessage, known: KnownDhcpv6Client): Dhcpv6Decision {
  if (known.address === undefined) return ignore('unknown-client');
  return associations.length === 0 ? ignore('nothing-requested') : reply(extended(associations, known));
}

/** Decides by the prefix. Beyond RFC 8415 §18.3.3, a client begins anew if none of the addresses is its own now, because others may use them. Another server may know an unknown client. */
function decideConfirm({ associations }: Dhcpv6ClientMessage, { pool, address: own }: KnownDhcpv6Client): Dhcpv6Decision {
  const addresses = associations.flatMap((one) => one.addresses);
  // "If ... there were no addresses in any of the IAs sent by the client, the server MUST NOT send a Reply."
  if (addresses.length === 0) return ignore('nothing-to-confirm');
  if (own === undefined) return ignore('unknown-client');
  const isRight = addresses.includes(own) && addresses.every((address) => prefixContains(pool.prefix, address));
  return { kind: 'reply', associations: [], status: isRight ? Dhcpv6Status.success : Dhcpv6Status.notOnLink };
}

/** Source: RFC 8415 §18.3.7, §18.3.8: the status of the message is Success, whatever the associations have. */
function decideReturn(
  { associations }: Dhcpv6ClientMessage,
  { address }: KnownDhcpv6Client,
  event: 'released' | 'declined',
): Dhcpv6Decision {
  const isOwn = ({ addresses }: IdentityAssociation) => addresses.some((one) => one === address);
  const answer: Dhcpv6Reply = {
    kind: 'reply',
    associations: associations.filter((one) => !isOwn(one)).map(refused(Dhcpv6Status.noBinding)),
    prefixStatus: Dhcpv6Status.noBinding,
    status: Dhcpv6Status.success,
  };
  return associations.some(isOwn) ? { ...answer, event } : answer;
}

/** Source: RFC 9686 §4.2.2. */
function decideRegistration({ registered, isUnregistered }: Dhcpv6ClientMessage, { pool }: KnownDhcpv6Client): Dhcpv6Decision {
  if (!pool.addressRegistration) return ignore('registration-not-enabled');
  if (registered === undefined || !prefixContains(pool.prefix, registered)) return ignore('address-not-on-link');
  return { kind: 'registered', associations: [], event: isUnregistered ? 'unregistered' : 'registered' };
}

/** One association has the address: the one that names it, else the first. The others have none. */
function assigned(associations: readonly IdentityAssociation[], address: Ipv6Address): AnsweredAssociation[] {
  const owner = ownerOf(associations, address);
  return associations.map((one) => (one === owner ? withAddress(one, address) : refused(Dhcpv6Status.noAddressesAvailable)(one)));
}

function withAddress({ iaid }: IdentityAssociation, assigned: Ipv6Address): AnsweredAssociation {
  return { iaid, assigned, withdrawn: [], status: undefined };
}

/**
 * "If the server finds that any of the addresses in the IA are not appropriate for the link ..., the server returns the address to the client with
 * lifetimes of 0"; the address that the client has now is in the same answer. Source: RFC 8415 §18.3.4, §18.3.5.
 */
function extended(associations: readonly IdentityAssociation[], { address }: KnownDhcpv6Client): AnsweredAssociation[] {
  const owner = address === undefined ? undefined : ownerOf(associations, address);
  return associations.map((one) => {
    const withdrawn = one.addresses.filter((other) => other !== address);
    if (one === owner) return { iaid: one.iaid, assigned: address, withdrawn, status: undefined };
    return address === undefined || withdrawn.length === 0
      ? refused(Dhcpv6Status.noBinding)(one)
      : { iaid: one.iaid, assigned: undefined, withdrawn, status: undefined };
  });
}

function ownerOf(associations: readonly IdentityAssociation[], address: Ipv6Address): IdentityAssociation | undefined {
  return associations.find(({ addresses }) => addresses.includes(address)) ?? associations[0];
}

function refused(status: number): (association: IdentityAssociation) => AnsweredAssociation {
  return ({ iaid }) => ({ iaid, assigned: undefined, withdrawn: [], status });
}

function reply(associations: readonly AnsweredAssociation[]): Dhcpv6Reply {
  const isAssigned = associations.some(({ assigned: address }) => address !== undefined);
  return { kind: 'reply', associations, ...(isAssigned && { event: 'assigned' }) };
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((octet, index) => octet === other[index]);
}
