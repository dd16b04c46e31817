import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';

/**
 * The address of a client that no object declares: the record that this client may use this address until the lease ends. After that, it is
 * the memory of who had the address last. Times are milliseconds on the caller's clock, which must go on over restarts (since 1970, for instance).
 *
 * Source: RFC 2131 §1.4 ("a collection of configuration parameters, including at least an IP address, associated with or 'bound to' a DHCP client"), §4.3.1.
 */
export interface Binding {
  readonly address: Ipv4Address;
  /** The hardware address (chaddr), which identifies the client. */
  readonly macAddress: MacAddress;
  /** The name that the client sends (option 12), if it is a host name. For people: it is not checked, and not sent back. */
  readonly hostname?: string;
  /** When the client got this address; renewals do not change it. */
  readonly boundAtMs: number;
  /** When the last ACK was decided. */
  readonly grantedAtMs: number;
  /** When the lease ends, or when the client released it; Infinity if it never ends. */
  readonly endsAtMs: number;
  /** The client sent a DHCPRELEASE: the lease has ended. */
  readonly isReleased: boolean;
}

/** One change of the bindings of a pool. Applying the records of a pool in order to an empty `BindingTable` restores the table after a crash. */
export type BindingRecord =
  | ({ readonly kind: 'binding'; readonly poolName: string } & Binding)
  | {
      readonly kind: 'quarantine';
      readonly poolName: string;
      readonly address: Ipv4Address;
      /** The address is leased to no client before this time. */
      readonly untilMs: number;
      /** Absent if it is not known. */
      readonly beganAtMs?: number;
    };

/** True while the client may use the address. */
export function isBindingValid({ isReleased, endsAtMs }: Pick<Binding, 'isReleased' | 'endsAtMs'>, nowMs: number): boolean {
  return !isReleased && endsAtMs > nowMs;
}
