import type { Ipv4Address } from '../address/ipv4-address.js';
import type { Ipv4Cidr } from '../address/ipv4-cidr.js';
import type { Ipv4Range } from '../address/ipv4-range.js';
import type { MacAddress } from '../address/mac-address.js';
import type { StaticRoute } from '../options/classless-static-routes.js';
import type { Dhcpv6Pool } from './dhcpv6-pool.js';

/** A pool that was checked: every address lies where it must, every default is filled in. Made by `validatePool`. */
export interface Pool {
  readonly name: string;
  readonly cidr: Ipv4Cidr;
  readonly serverAddress: Ipv4Address;
  /** From the first to the last address that may be leased. */
  readonly range: Ipv4Range;
  /** The addresses that may be leased, before exclusions: all of `range`, or parts of it. Sorted, merged. */
  readonly ranges: readonly Ipv4Range[];
  /** Unavailable addresses, never leased: between `ranges`, excluded, server, router, network and broadcast address. Sorted, merged, inside `range`. */
  readonly unavailable: readonly Ipv4Range[];
  /** By MAC address; at most one address each, at most one MAC address per address. */
  readonly reservations: ReadonlyMap<MacAddress, Reservation>;
  /** The addresses that unknown clients may lease, without what is unavailable or reserved. Sorted, merged. Empty: the pool is not open. */
  readonly dynamic: readonly Ipv4Range[];
  readonly leaseTimeSeconds: number;
  /** Relays outside `cidr` that are answered. */
  readonly relays: readonly Ipv4Cidr[];
  readonly authoritative: boolean;
  readonly rapidCommit: boolean;
  readonly options: PoolOptions;
  /** What its clients get by DHCPv6; absent for nothing. `validatePool` does not make it. */
  readonly dhcpv6?: Dhcpv6Pool;
}

/** An address that one client gets and no other one, with its host name if it has one. */
export interface Reservation {
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
  readonly hostname?: string;
}

/** What a pool tells its clients beside their addresses. */
export interface PoolOptions {
  readonly router?: Ipv4Address;
  readonly dnsServers: readonly Ipv4Address[];
  readonly domainName?: string;
  readonly domainSearch: readonly string[];
  readonly ntpServers: readonly Ipv4Address[];
  /** Octets. */
  readonly mtu?: number;
  /** How long clients that ask for it do without IPv4. */
  readonly ipv6OnlyWaitSeconds?: number;
  readonly staticRoutes: readonly StaticRoute[];
  readonly nextServer?: Ipv4Address;
  readonly bootFile?: string;
  readonly bootByArchitecture: ReadonlyMap<number, BootSettings>;
  /** Options without a field of their own, encoded. */
  readonly byCode: ReadonlyMap<number, Uint8Array>;
}

/** What a client boots from the network: a server, and a file on it. */
export interface BootSettings {
  readonly nextServer?: Ipv4Address;
  readonly bootFile?: string;
}

/** One year, as upstream gives if a pool does not set a lease time. */
export const DEFAULT_LEASE_TIME_SECONDS = 31_536_000;

/** Seven days, for a pool with `dynamic` ranges, whose unknown clients may be gone for good. */
export const DEFAULT_DYNAMIC_LEASE_TIME_SECONDS = 604_800;

/** The most addresses one pool may range over: a /8. */
export const MAX_RANGE_SIZE = 2 ** 24;

/** The most entries that `relays` of a pool may have. */
export const MAX_RELAYS = 32;

/** A lease that never ends. Source: RFC 2131 §3.3. */
export const INFINITE_LEASE_TIME_SECONDS = 0xffffffff;
