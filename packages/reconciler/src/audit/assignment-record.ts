/** Who had which address when: one record for each continuous assignment of an address to a client. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';

/** When something happened: not before `from`, not after `to`, in milliseconds since 1970; both are equal if the time is known exactly. */
export interface Moment {
  /** `-Infinity` if nothing is known. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Why an assignment began. */
export const BEGIN_REASONS = {
  assigned: 'an interface asked for an address, and got a free one',
  pinned: 'the virtual machine names this address in an annotation, or its network config does',
  reserved: 'the IPPool reserves the address for the MAC address',
  moved: 'the client had another address of the pool before',
  'address-conflict': 'another machine uses the address that the client had before',
  'mac-address-changed': 'the virtual machine had the address before, with another MAC address',
  'owner-changed': 'the MAC address had the address before, and belongs to another virtual machine now',
  adopted: 'the address was assigned when the records of the pool began',
  'not-recorded': 'it began while nothing was recorded: the controller had stopped, or its records could not be written',
} as const satisfies Readonly<Record<string, string>>;
/** Why an assignment began. */
export type BeginReason = keyof typeof BEGIN_REASONS;

/** Why an assignment ended. */
export const END_REASONS = {
  'vm-deleted': 'the virtual machine was deleted',
  'interface-removed': 'the virtual machine has no interface any more that asks for the address',
  'reservation-removed': 'the IPPool reserves the address no longer, and no virtual machine asks for it',
  moved: 'the client has another address of the pool now',
  'pool-changed': 'the IPPool cannot lease the address any more since it was changed',
  'pool-deleted': 'the IPPool was deleted',
  'address-conflict': 'another machine uses the address',
  'mac-address-changed': 'the virtual machine keeps the address, with another MAC address',
  'owner-changed': 'the MAC address belongs to another virtual machine now',
  'not-recorded': 'it ended while nothing was recorded: the controller had stopped, or its records could not be written',
} as const satisfies Readonly<Record<string, string>>;
/** Why an assignment ended. */
export type EndReason = keyof typeof END_REASONS;

/** A client that has an address. */
export interface AssignedClient {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
  /** `namespace/name`; undefined if there is none, for example for a reservation. */
  readonly virtualMachine: string | undefined;
  /** UID of the virtual machine; undefined if not known. */
  readonly uid: string | undefined;
  /** Name of the interface; undefined if not known. */
  readonly interface: string | undefined;
}

export interface AssignmentRecord extends AssignedClient {
  /** Unique among all records of the pool; a later record has a higher number. */
  readonly serial: number;
  /** `namespace/name` of the NetworkAttachmentDefinition. */
  readonly network: string;
  readonly from: Moment;
  readonly began: BeginReason;
  /** Absent if the client still has the address. */
  readonly end?: { readonly to: Moment; readonly reason: EndReason };
}

/** A moment that is known exactly. */
export function exactly(atMs: number): Moment {
  return { notBeforeMs: atMs, notAfterMs: atMs };
}

/** True if it is the same client; a virtual machine that was created again under the same name is another one. */
export function isSameClient(one: AssignedClient, other: AssignedClient): boolean {
  if (one.macAddress !== other.macAddress || one.virtualMachine !== other.virtualMachine) return false;
  return one.uid === other.uid || one.uid === undefined || other.uid === undefined;
}
