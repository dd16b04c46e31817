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
  ])('as many as are left, at most three: in %s where %j are', (cidr, left, found) => {
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

  it.each([
    [[0.5], '10.0.0.128'],
    [[0.25, 0.75, 0.999], '10.0.0.64 10.0.0.192 10.0.0.255'],
    [[0.5, 0.5, 0.25, 0.5], '10.0.0.128 10.0.0.64'],
  ])('drawn at random over the whole subnet: draws of %j', (numbers, expected) => {
    const draws = numbers.values();
    const decoys = decoyAddresses(poolOf('10.0.0.0/23'), {
      count: expected.split(' ').length,
      isAssigned: () => false,
      random: () => (draws.next().value ?? 0) / 2,
    });
    expect(decoys.map(formatIpv4Address).join(' ')).toBe(expected);
  });

  it.each([
    ['10.0.0.0/29', 3, { draws: 65, looks: 64 + 3 }, 'a small one that is full: each address once after 64 draws'],
    ['10.0.0.0/16', 3, { draws: 65, looks: 64 + 4_096 }, 'a large one that is full: 4,096 addresses after 64 draws'],
    ['10.0.0.0/16', 0, { draws: 1, looks: 0 }, 'none wanted'],
  ])('in %s, count %d, for %j: %s', (cidr, count, cost) => {
    let draws = 0;
    let looks = 0;
    const decoys = decoyAddresses(poolOf(cidr), {
      count,
      isAssigned: () => {
        looks++;
        return true;
      },
      random: () => {
        draws++;
        return 0.5;
      },
    });
    expect([decoys, { draws, looks }]).toEqual([[], cost]);
  });

  it('drawing ends with the last one that is wanted', () => {
    let draws = 0;
    decoyAddresses(poolOf('10.0.0.0/24'), { count: 3, isAssigned: () => false, random: () => ++draws / 10 });
    expect(draws).toBe(4);
  });
});
