import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';

/** The states of a lease that ISC dhcpd writes. Source: dhcpd.leases(5), "binding state". */
export const ISC_BINDING_STATES = ['free', 'active', 'expired', 'released', 'abandoned', 'reset', 'backup'] as const;

/** The state of a lease of ISC dhcpd, as its file has it. */
export type IscBindingState = (typeof ISC_BINDING_STATES)[number];

/**
 * One `lease` entry of a `dhcpd.leases` file of ISC dhcpd 4.4. Times are milliseconds since 1970, Infinity for `never`.
 *
 * Source: dhcpd.leases(5).
 */
export interface IscLease {
  readonly address: Ipv4Address;
  readonly state: IscBindingState;
  /** What the lease becomes when its state ends. */
  readonly nextState?: IscBindingState;
  /** What the lease returns to after a failover partner was lost. */
  readonly rewindState?: IscBindingState;
  readonly startsAtMs?: number;
  readonly endsAtMs?: number;
  /** `tstp`, `tsfp`, `atsfp`: times of a failover protocol. */
  readonly tstpMs?: number;
  readonly tsfpMs?: number;
  readonly atsfpMs?: number;
  /** `cltt`: when the client sent its last message. */
  readonly clientLastSeenAtMs?: number;
  readonly macAddress?: MacAddress;
  /** The client identifier (option 61), as lower-case hexadecimal digits. */
  readonly uid?: string;
  /** `client-hostname`, as the client sent it: a character for each octet. */
  readonly hostname?: string;
}

/** A lease, and where it stands in the file. */
export interface IscLeaseEntry extends IscLease {
  /** The line where the entry begins, from 1. */
  readonly line: number;
}

/** Why a part of a file was not imported. The reasons in `BROKEN` mean that the file is not as dhcpd wrote it. */
export type IscLeaseProblemReason =
  | 'file-cut'
  | 'entry-not-closed'
  | 'statement-malformed'
  | 'address-invalid'
  | 'unreadable-octets'
  | 'unexpected-text'
  | 'unknown-statement'
  | 'not-ethernet'
  | 'failover-state'
  | 'ipv6-lease'
  | 'host-declaration'
  | 'class-declaration';

const BROKEN: ReadonlySet<IscLeaseProblemReason> = new Set([
  'file-cut',
  'entry-not-closed',
  'statement-malformed',
  'address-invalid',
  'unreadable-octets',
  'unexpected-text',
]);

/** An address whose last entry could not be read: a client may have it, and which one is not known. */
export interface UnreadableIscLease {
  readonly address: Ipv4Address;
  /** The line where the entry begins, from 1. */
  readonly line: number;
  /** The end that the entry states, milliseconds since 1970; undefined if it states none. */
  readonly endsAtMs?: number;
}

/** What cannot be read of a `dhcpd.leases`, with its line. */
export interface IscLeaseProblem {
  readonly reason: IscLeaseProblemReason;
  /** From 1. */
  readonly line: number;
  /** The address of the entry that the problem is in. */
  readonly address?: Ipv4Address;
  /** What is wrong and what was done about it. */
  readonly message: string;
}

/** True if the file is not as dhcpd wrote it, so that a lease may be missing; false for entries that were understood and left out. */
export function isBrokenFile({ reason }: Pick<IscLeaseProblem, 'reason'>): boolean {
  return BROKEN.has(reason);
}
