/**
 * A pool as a person writes it: text, nothing checked, everything optional that can have a default.
 * `validatePool` turns it into a `Pool`, or returns every problem of it.
 */
export interface PoolDefinition {
  /** The name of the pool in problems, leases and metrics: `default/net-48`. */
  readonly name: string;
  /** The subnet, `192.168.48.0/24`. */
  readonly cidr: string;
  /**
   * Our own address in the subnet: server identifier (option 54) and source of replies. Default: the first host address
   * that is neither the router nor excluded.
   */
  readonly serverAddress?: string;
  /** First address that may be leased; default: the first host address of the subnet. */
  readonly start?: string;
  /** Last address that may be leased; default: the last host address of the subnet. */
  readonly end?: string;
  /**
   * Addresses or ranges of the subnet that may be leased, instead of `start` to `end`, which then have no effect. Default: one range, from `start` to `end`.
   */
  readonly ranges?: readonly string[];
  /** Addresses (`192.168.48.5`) or ranges (`192.168.48.10-192.168.48.19`) that are never leased. */
  readonly exclude?: readonly string[];
  readonly reservations?: readonly ReservationDefinition[];
  /**
   * Addresses or ranges of the subnet that unknown clients may lease (`OpenPool`), inside or outside of `start` to `end`. Excluded and reserved
   * addresses in them are left out. Default: none, and unknown clients get no reply.
   */
  readonly dynamic?: readonly string[];
  /** Seconds a lease lasts, 1 to 4294967294, or 4294967295 for an infinite lease; default one year, or seven days if `dynamic` is set. */
  readonly leaseTimeSeconds?: number;
  /**
   * Relays outside the subnet that are answered: addresses (`192.0.2.1`) or subnets (`192.0.2.0/24`), at most 32. Relays in the
   * subnet are answered anyway. Default: none.
   */
  readonly relays?: readonly string[];
  /**
   * True if no other DHCP server is on this network: then a client without a lease here that claims an address gets a NAK and must give it up.
   * Default false: unknown clients get no reply.
   */
  readonly authoritative?: boolean;
  /** True if a DISCOVER with option 80 is answered with an ACK at once, RFC 4039. Default false. */
  readonly rapidCommit?: boolean;
  readonly options?: PoolOptionsDefinition;
}

/** An address that belongs to one client whether or not it is there. May lie outside `start` to `end`. */
export interface ReservationDefinition {
  readonly macAddress: string;
  readonly address: string;
  readonly hostname?: string;
}

/** The options that clients of a pool receive besides their address. A field that is left out is not sent. */
export interface PoolOptionsDefinition {
  /** Option 3. */
  readonly router?: string;
  /** Option 6. */
  readonly dnsServers?: readonly string[];
  /** Option 15. */
  readonly domainName?: string;
  /** Option 119, RFC 3397. */
  readonly domainSearch?: readonly string[];
  /** Option 42. Addresses only: names are resolved by the caller. */
  readonly ntpServers?: readonly string[];
  /** Option 26: octets, 68 to 65535. */
  readonly mtu?: number;
  /** Option 108, RFC 8925: how long clients that can do without IPv4 do so, in seconds, 300 to 4294967295. Clients that do not request it keep IPv4. */
  readonly ipv6OnlyWaitSeconds?: number;
  /** Option 121, RFC 3442. The default route through `router` is added, as clients that read 121 ignore option 3. */
  readonly staticRoutes?: readonly StaticRouteDefinition[];
  /** siaddr and option 66: where the boot file is. */
  readonly nextServer?: string;
  /** file and option 67. */
  readonly bootFile?: string;
  /** Boot settings for one client architecture (option 93), before the general ones. */
  readonly bootByArchitecture?: readonly BootDefinition[];
  /** Options without a field of their own. */
  readonly byCode?: readonly OptionDefinition[];
}

/** An option as a person writes it. */
export interface OptionDefinition {
  /** 1 to 254, but no option that another field or the server sets. */
  readonly code: number;
  /** In the form of its kind, as in `192.168.48.5, 192.168.48.6`, or octets as in `0x0104c0a83001`; 255 octets at most. An option without a name here is text. */
  readonly value: string;
}

/** A static route as a person writes it: a subnet in CIDR notation, and an address. */
export interface StaticRouteDefinition {
  /** A subnet without host bits, `10.0.0.0/8`. */
  readonly destination: string;
  /** A host address in the pool's subnet, or 0.0.0.0: the destination is on the clients' link. */
  readonly gateway: string;
}

/** Source: RFC 4578 §2.1; numbers in the IANA registry "Processor Architecture Types". */
export interface BootDefinition {
  /** 0 to 65535: 0 is x86 BIOS, 7 x86-64 EFI, 11 arm64 EFI. */
  readonly architecture: number;
  readonly nextServer?: string;
  readonly bootFile?: string;
}
