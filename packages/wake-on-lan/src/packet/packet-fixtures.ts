import { isGroupMacAddress, readMacAddress } from '@vmdhcp/dhcp-allocator/address';
import fc from 'fast-check';

export const MAC = '02:00:5e:10:00:01';

export const octetsOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (octet) => Number.parseInt(octet, 16));

/** Octets, many of which are 0xff and 0. */
export const anyMachineAddress = fc
  .array(fc.oneof(fc.constantFrom(0xff, 0), fc.nat(255)), { minLength: 6, maxLength: 6 })
  .map((octets) => readMacAddress(Uint8Array.from(octets)))
  .filter((mac) => !isGroupMacAddress(mac) && mac !== '00:00:00:00:00:00');

export const anyPassword = fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 6, maxLength: 6 }));
