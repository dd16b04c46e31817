/** The address changes in a patch of a pool's status, for the log. */

import { type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { isRecord, type MergePatch, readField } from '@vmdhcp/kube-runtime';
import type { RefusalReason } from '../network-config/refusal-reason.js';

import type { RecordedAddresses } from '../pool/recorded-addresses.js';

/** What changed about the address of a client in a pool. */
export type AddressChange = {
  /** `namespace/name` of the IPPool. */
  readonly pool: string;
  readonly macAddress: MacAddress;
  /** `namespace/name` of the virtual machine; undefined if it is gone, or there is none, for example for a reservation. */
  readonly owner: string | undefined;
} & (
  | {
      readonly kind: 'allocated';
      readonly address: Ipv4Address;
      readonly reason: 'new' | 'reserved' | 'moved' | 'address-conflict';
      /** The former address of the client. */
      readonly previous?: Ipv4Address;
    }
  | { readonly kind: 'released'; readonly address: Ipv4Address; readonly reason: 'not-claimed' | 'address-conflict' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly message: string }
);

/** An `AddressChange` before its owner is known. */
export type RecordedChange =
  | {
      readonly kind: 'allocated';
      readonly macAddress: MacAddress;
      readonly address: Ipv4Address;
      readonly previous?: Ipv4Address;
    }
  | { readonly kind: 'released'; readonly macAddress: MacAddress; readonly address: Ipv4Address };

/** In the order of the addresses in the patch, allocations first. A client whose address only has another spelling has no change. */
export function recordedChanges(recorded: RecordedAddresses, patch: MergePatch): RecordedChange[] {
  const allocated = readField(patch, 'status', 'ipv4', 'allocated');
  const lost = new Map<MacAddress, Ipv4Address>();
  const gained = new Map<MacAddress, Ipv4Address>();
  for (const [key, value] of Object.entries(isRecord(allocated) ? allocated : {})) {
    const address = parseIpv4Address(key);
    if (address === undefined) continue;
    const before = recorded.entryAt(key)?.assignment?.macAddress;
    const after = typeof value === 'string' ? parseMacAddress(value) : undefined;
    if (before === after) continue;
    if (before !== undefined) lost.set(before, address);
    if (after !== undefined) gained.set(after, address);
  }
  return [
    ...[...gained].map(([macAddress, address]) => {
      const previous = lost.get(macAddress);
      return { kind: 'allocated' as const, macAddress, address, ...(previous !== undefined && { previous }) };
    }),
    ...[...lost].flatMap(([macAddress, address]) =>
      gained.has(macAddress) ? [] : [{ kind: 'released' as const, macAddress, address }],
    ),
  ];
}
