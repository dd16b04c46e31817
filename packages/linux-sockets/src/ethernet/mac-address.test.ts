import { expect, it } from 'vitest';
import { BROADCAST_MAC, formatMacAddress } from './mac-address.js';

it.each([
  [[2, 0, 0x5e, 0, 0xab, 0xc], '02:00:5e:00:ab:0c'],
  [[1, 2, 3, 4, 5, 6, 7, 8], '01:02:03:04:05:06'],
  [[...BROADCAST_MAC], 'ff:ff:ff:ff:ff:ff'],
])('formatMacAddress(%j) is %s', (octets, text) => {
  expect(formatMacAddress(Uint8Array.from(octets))).toBe(text);
});
