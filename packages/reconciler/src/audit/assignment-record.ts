/** Who had which address when: one record for each time that a client had an address without a break. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';

/** When something happened: not before the one, not after the other. In milliseconds since 1970, and both the same where it is known exactly. */
export interface Moment {
  /** `-Infinity`: nothing is known. */
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
export type EndReason = keyof typeof END_REASONS;

/** A client that has an address. */
export interface AssignedClient {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
  /** `namespace/name`; undefined: there is none, as of a reservation. */
  readonly virtualMachine: string | undefined;
  /** UID of the virtual machine; undefined: not known. */
  readonly uid: string | undefined;
  /** Name of the interface; undefined: not known. */
  readonly interface: string | undefined;
}

export interface AssignmentRecord extends AssignedClient {
  /** Of all records of the pool none other has it; a later one has a higher one. */
  readonly serial: number;
  /** `namespace/name` of the NetworkAttachmentDefinition. */
  readonly network: string;
  readonly from: Moment;
  readonly began: BeginReason;
  /** Absent: the client has the address still. */
  readonly end?: { readonly to: Moment; readonly reason: EndReason };
}

/** A moment that is known. */
export function exactly(atMs: number): Moment {
  return { notBeforeMs: atMs, notAfterMs: atMs };
}

/** True if it is the same client: a virtual machine that was created anew under the same name is another one. */
export function isSameClient(one: AssignedClient, other: AssignedClient): boolean {
  if (one.macAddress !== other.macAddress || one.virtualMachine !== other.virtualMachine) return false;
  return one.uid === other.uid || one.uid === undefined || other.uid === undefined;
}
