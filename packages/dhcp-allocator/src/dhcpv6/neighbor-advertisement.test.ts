import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ip } from './dhcpv6-fixtures.js';
import { encodeNeighborSolicitation, readNeighborAdvertisement } from './neighbor-advertisement.js';

const TARGET = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
/** With the flags R, S and O. */
const ANSWER = [136, 0, 0, 0, 0xe0, 0, 0, 0, ...TARGET];

it('RFC 4861 §4.3: a Neighbor Solicitation has the address that is looked for, and the MAC address of its sender', () => {
  const message = encodeNeighborSolicitation(ip('fe80::1'), Uint8Array.of(2, 0, 0, 0, 0, 10));
  expect([...message]).toEqual([135, 0, 0, 0, 0, 0, 0, 0, ...TARGET, 1, 1, 2, 0, 0, 0, 0, 10]);
});

describe('a Neighbor Advertisement', () => {
  it.each<[string, number[], boolean]>([
    ['of a router', ANSWER, true],
    ['of a host that does not forward packets', ANSWER.map((octet, at) => (at === 4 ? 0x60 : octet)), false],
    ['with a MAC address', [...ANSWER, 2, 1, 2, 0, 0, 0, 0, 1], true],
  ])('RFC 4861 §4.4: %s', (_, message, isRouter) => {
    expect(readNeighborAdvertisement(Uint8Array.from(message), 255)).toEqual({ address: ip('fe80::1'), isRouter });
  });

  it.each<[string, number[], number]>([
    ['that was forwarded', ANSWER, 254],
    ['that is torn', ANSWER.slice(0, 23), 255],
    ['with another code', ANSWER.map((octet, at) => (at === 1 ? 1 : octet)), 255],
    ['that is another message', [135, ...ANSWER.slice(1)], 255],
    ['with an option of no length', [...ANSWER, 2, 0, 2, 0, 0, 0, 0, 1], 255],
  ])('RFC 4861 §7.1.2: is discarded: %s', (_, message, hopLimit) => {
    expect(readNeighborAdvertisement(Uint8Array.from(message), hopLimit)).toBeUndefined();
  });

  it('law: any octets never throw', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => void readNeighborAdvertisement(octets, 255)));
  });
});
