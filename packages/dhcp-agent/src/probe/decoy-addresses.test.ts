import { formatIpv4Address, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decoyAddresses } from './decoy-addresses.js';

function poolOf(cidr: string) {
  const checked = validatePool({
    name: 'net',
    cidr,
    serverAddress: '10.0.0.1',
    options: { router: '10.0.0.2' },
    reservations: [{ macAddress: '02:00:00:00:00:01', address: '10.0.0.3' }],
  });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

const ip = (text: string): number => parseIpv4Address(text) as number;
const KNOWN = ['10.0.0.0', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.15'];

describe('decoys are addresses of the subnet that no host should have', () => {
  it('never those of the server, the router, clients and reservations, nor of the network and of broadcast', () => {
    const draws = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 64, maxLength: 64 });
    fc.assert(
      fc.property(draws, (numbers) => {
        const rest = numbers[Symbol.iterator]();
        const decoys = decoyAddresses(poolOf('10.0.0.0/28'), {
          count: 3,
          isAssigned: (address) => address === ip('10.0.0.4'),
          random: () => rest.next().value ?? 0,
        });
        expect(new Set(decoys).size).toBe(3);
        for (const decoy of decoys) {
          expect(KNOWN).not.toContain(formatIpv4Address(decoy));
          expect(formatIpv4Address(decoy)).toMatch(/^10\.0\.0\.(\d|1[0-4])$/);
        }
      }),
    );
  });

  it.each([
    ['10.0.0.0/29', [4, 5, 6], 3],
    ['10.0.0.0/29', [6], 1],
    ['10.0.0.0/29', [], 0],
    ['10.0.0.0/24', [250, 251, 252, 253], 3],
    ['10.0.0.0/24', [97], 1],
  ])('as many as are left, at most three: of %s where %j are', (cidr, left, found) => {
    const free = new Set(left.map((host) => ip('10.0.0.0') + host));
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), (draws) => {
        const isAssigned = (address: number) => !free.has(address);
        const decoys = decoyAddresses(poolOf(cidr), { count: 3, isAssigned, random: () => draws.next().value ?? 0 });
        expect(new Set(decoys).size).toBe(found);
        for (const decoy of decoys) expect(free.has(decoy)).toBe(true);
      }),
    );
  });
});
