import type { Ipv6Address, Ipv6Prefix } from '../address/ipv6-address.js';

/** What a server needs to know about the clients of a link. */
export interface Dhcpv6Pool {
  /** The prefix of the link: addresses outside of it are not appropriate there. */
  readonly prefix: Ipv6Prefix;
  /** The same on all servers of the pool, so that a client renews with any of them: see `serverIdentifierOf`. */
  readonly serverIdentifier: Uint8Array;
  /** Seconds, 1 or more; less than `validLifetimeSeconds`. */
  readonly preferredLifetimeSeconds: number;
  /** Seconds, 2 to 4294967294. */
  readonly validLifetimeSeconds: number;
  /** True if a Solicit that allows it is answered by a Reply. Source: RFC 8415 §18.3.1. */
  readonly rapidCommit: boolean;
  /** True if clients may register addresses that they chose themselves. Source: RFC 9686. */
  readonly addressRegistration: boolean;
  /** The addresses of relays. A relay forwards what another host says that it relays: the addresses of all relays on the way count. */
  readonly relays: readonly Ipv6Prefix[];
  readonly options: Dhcpv6PoolOptions;
}

/** Options for clients that request them; empty ones are not sent. */
export interface Dhcpv6PoolOptions {
  readonly dnsServers: readonly Ipv6Address[];
  /** DNS names. */
  readonly domainSearch: readonly string[];
  readonly ntpServers: readonly Ipv6Address[];
  readonly bootFileUrl: string | undefined;
}

const UUID_TYPE = 4;

/**
 * The identifier (DUID-UUID) of the servers of a pool, from the UUID of its object: it outlives every server. Source: RFC 6355 §4.
 *
 * @param uid - as Kubernetes writes it: `8e3ad0f2-6c1e-4c2b-9a55-0d6a3b1f7c10`.
 * @throws RangeError if it is not a UUID.
 */
export function serverIdentifierOf(uid: string): Uint8Array {
  const digits = uid.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(digits)) throw new RangeError(`'${uid}' is not a UUID`);
  const octets = Array.from({ length: 16 }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16));
  return Uint8Array.of(0, UUID_TYPE, ...octets);
}
