import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import type { Pool } from '../pool/pool.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { AddressAllocator, type AllocationResult } from './address-allocator.js';
import { AddressBitmap } from './address-bitmap.js';

function poolOf(definition: Partial<PoolDefinition> = {}): Pool {
  const checked = validatePool({
    name: 'net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.1',
    start: '10.0.0.10',
    end: '10.0.0.13',
    ...definition,
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

const address = (text: string): number => parseIpv4Address(text) as number;
const vm = (letter: string): string => `02:00:00:00:00:0${letter}`;
const outcome = (result: AllocationResult): string => (result.ok ? formatIpv4Address(result.address) : result.reason);

it('clients that keep their addresses for good are counted, and nobody else gets their addresses', () => {
  const pool = poolOf({ end: '10.0.0.14' });
  const kept = [
    { macAddress: vm('a'), address: address('10.0.0.10') },
    // Outside the range, as it was larger once.
    { macAddress: vm('b'), address: address('10.0.0.20') },
  ];
  const [one, all] = [new AddressAllocator(pool), new AddressAllocator(pool)];
  all.keepAll(new Map(kept.map((one) => [one.macAddress, one.address])));
  for (const { macAddress, address: recorded } of kept) one.keep(macAddress, recorded);
  expect(all.counts()).toEqual(one.counts());
  expect([[...all.outside()], [...one.outside()]]).toEqual([[address('10.0.0.20')], [address('10.0.0.20')]]);
  for (const allocator of [one, all]) {
    expect(allocator.ownerOf(address('10.0.0.20'))).toBe(vm('b'));
    expect(allocator.allocate(vm('c'), address('10.0.0.10'))).toEqual({ ok: false, reason: 'address-taken', owner: vm('a') });
    expect(outcome(allocator.allocate(vm('c')))).toBe('10.0.0.11');
  }
  expect(all.counts()).toEqual(one.counts());
});

describe('AddressAllocator tells a story', () => {
  it('assigns the lowest free address first, a known client its last one, and none when the pool is exhausted', () => {
    const allocator = new AddressAllocator(poolOf());
    expect(outcome(allocator.allocate(vm('a')))).toBe('10.0.0.10');
    expect(outcome(allocator.allocate(vm('b')))).toBe('10.0.0.11');
    expect(outcome(allocator.allocate(vm('c'), address('10.0.0.10')))).toBe('address-taken');
    expect(allocator.release(vm('a'))).toBe(true);
    expect(allocator.release(vm('b'))).toBe(true);
    expect(outcome(allocator.allocate(vm('b')))).toBe('10.0.0.11');
    expect(outcome(allocator.allocate(vm('c'), address('10.0.0.10')))).toBe('10.0.0.10');
    expect(outcome(allocator.allocate(vm('a')))).toBe('10.0.0.12');
    expect(outcome(allocator.allocate(vm('d')))).toBe('10.0.0.13');
    expect(outcome(allocator.allocate(vm('e')))).toBe('pool-exhausted');
    expect(allocator.counts()).toEqual({ size: 4, used: 4, reserved: 0, quarantined: 0, free: 0 });
  });

  it('a client keeps an address that it already has, even outside start to end, and no other client gets it', () => {
    const allocator = new AddressAllocator(poolOf({ options: { router: '10.0.0.99' } }));
    expect(outcome(allocator.allocate(vm('a'), address('10.0.0.20')))).toBe('address-outside-pool');
    expect(outcome(allocator.keep(vm('a'), address('10.0.0.20')))).toBe('10.0.0.20');
    expect(outcome(allocator.keep(vm('b'), address('10.0.0.20')))).toBe('address-taken');
    expect(outcome(allocator.keep(vm('b'), address('10.0.0.11')))).toBe('10.0.0.11');
    expect(allocator.counts()).toEqual({ size: 5, used: 2, reserved: 0, quarantined: 0, free: 3 });
    expect(outcome(allocator.allocate(vm('c')))).toBe('10.0.0.10');
    expect(allocator.release(vm('a'))).toBe(true);
    expect(allocator.counts()).toEqual({ size: 4, used: 2, reserved: 0, quarantined: 0, free: 2 });
    expect(outcome(allocator.allocate(vm('a')))).toBe('10.0.0.12');
  });

  it.each(['10.0.1.5', '10.0.0.0', '10.0.0.255', '10.0.0.1'])('no client keeps %s', (text) => {
    const allocator = new AddressAllocator(poolOf({ options: { router: '10.0.0.99' } }));
    expect(outcome(allocator.keep(vm('a'), address(text)))).toMatch(/^address-(outside-pool|unavailable)$/);
    expect(allocator.counts()).toMatchObject({ size: 4, used: 0 });
  });

  it.each(['10.0.0.11', '10.0.0.12'])(
    'a client keeps %s, which is now excluded or the router’s; afterwards no client gets it',
    (text) => {
      const allocator = new AddressAllocator(poolOf({ exclude: ['10.0.0.11'], options: { router: '10.0.0.12' } }));
      const before = allocator.counts();
      expect(outcome(allocator.allocate(vm('a'), address(text)))).toBe('address-unavailable');
      expect(outcome(allocator.keep(vm('a'), address(text)))).toBe(text);
      expect(outcome(allocator.keep(vm('b'), address(text)))).toBe('address-taken');
      expect(allocator.counts()).toEqual({ ...before, size: before.size + 1, used: 1 });
      expect(allocator.release(vm('a'))).toBe(true);
      expect(allocator.counts()).toEqual(before);
      expect(outcome(allocator.allocate(vm('b'), address(text)))).toBe('address-unavailable');
    },
  );

  it('a reservation is kept for its client, also outside start to end', () => {
    const allocator = new AddressAllocator(
      poolOf({
        reservations: [
          { macAddress: vm('a'), address: '10.0.0.10' },
          { macAddress: vm('b'), address: '10.0.0.200' },
        ],
      }),
    );
    expect(allocator.counts()).toEqual({ size: 5, used: 0, reserved: 2, quarantined: 0, free: 3 });
    expect(outcome(allocator.allocate(vm('c')))).toBe('10.0.0.11');
    expect(outcome(allocator.allocate(vm('d'), address('10.0.0.10')))).toBe('address-reserved');
    expect(outcome(allocator.allocate(vm('b')))).toBe('10.0.0.200');
    expect(outcome(allocator.allocate(vm('a')))).toBe('10.0.0.10');
    allocator.release(vm('a'));
    expect(allocator.counts()).toEqual({ size: 5, used: 2, reserved: 1, quarantined: 0, free: 2 });
    expect(outcome(allocator.allocate(vm('e')))).toBe('10.0.0.12');
  });

  it('a client gets the address it asks for, or a reason why not', () => {
    const allocator = new AddressAllocator(poolOf({ exclude: ['10.0.0.12'] }));
    expect(outcome(allocator.allocate(vm('a'), address('10.0.0.12')))).toBe('address-unavailable');
    expect(outcome(allocator.allocate(vm('a'), address('10.0.0.14')))).toBe('address-outside-pool');
    expect(outcome(allocator.allocate(vm('a'), address('10.0.9.1')))).toBe('address-outside-pool');
    expect(outcome(allocator.allocate(vm('a'), address('10.0.0.13')))).toBe('10.0.0.13');
    expect(outcome(allocator.allocate(vm('a'), address('10.0.0.11')))).toBe('client-has-another-address');
    expect(allocator.allocate(vm('b'), address('10.0.0.13'))).toEqual({ ok: false, reason: 'address-taken', owner: vm('a') });
  });

  it('a declined address comes back when its quarantine ends, and not before', () => {
    const allocator = new AddressAllocator(poolOf());
    allocator.allocate(vm('a'));
    expect(allocator.quarantine(address('10.0.0.10'), 5_000)).toBe(true);
    expect(allocator.addressOf(vm('a'))).toBeUndefined();
    expect(outcome(allocator.allocate(vm('a')))).toBe('10.0.0.11');
    expect(outcome(allocator.allocate(vm('b'), address('10.0.0.10')))).toBe('address-quarantined');
    expect(allocator.endQuarantines(4_999)).toEqual([]);
    expect(allocator.endQuarantines(5_000)).toEqual([address('10.0.0.10')]);
    expect(outcome(allocator.allocate(vm('b')))).toBe('10.0.0.10');
  });

  it('one quarantine can be ended before its time, and no other', () => {
    const allocator = new AddressAllocator(poolOf({ end: '10.0.0.29' }));
    for (const text of ['10.0.0.10', '10.0.0.11']) allocator.quarantine(address(text), 5_000);
    expect(allocator.endQuarantine(address('10.0.0.10'))).toBe(true);
    expect(allocator.endQuarantine(address('10.0.0.10'))).toBe(false);
    expect(outcome(allocator.allocate(vm('a'), address('10.0.0.10')))).toBe('10.0.0.10');
    expect(outcome(allocator.allocate(vm('b'), address('10.0.0.11')))).toBe('address-quarantined');
  });

  it('no client empties a pool by declining', () => {
    const allocator = new AddressAllocator(poolOf({ end: '10.0.0.29' }));
    let quarantined = 0;
    for (let round = 0; round < 20; round++) {
      const result = allocator.allocate(vm('a'));
      if (result.ok && allocator.quarantine(result.address, 1)) quarantined++;
    }
    expect(quarantined).toBe(5);
    expect(allocator.counts()).toEqual({ size: 20, used: 1, reserved: 0, quarantined: 5, free: 14 });
  });
});

describe('AddressAllocator laws', () => {
  const step = fc.record({
    what: fc.constantFrom('allocate', 'allocate', 'want', 'release', 'quarantine', 'end'),
    who: fc.integer({ min: 0, max: 11 }),
    where: fc.integer({ min: 0, max: 9 }),
  });

  it('never two owners of one address; the counts always add up', () => {
    const pool = poolOf({
      start: '10.0.0.10',
      end: '10.0.0.17',
      exclude: ['10.0.0.12'],
      reservations: [{ macAddress: vm('1'), address: '10.0.0.15' }],
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const allocator = new AddressAllocator(pool);
        for (const { what, who, where } of steps) {
          const client = vm(who.toString(16));
          const target = address('10.0.0.9') + where;
          if (what === 'allocate') allocator.allocate(client);
          else if (what === 'want') allocator.allocate(client, target);
          else if (what === 'release') allocator.release(client);
          else if (what === 'quarantine') allocator.quarantine(target, 1);
          else allocator.endQuarantines(1);
          const owned = Array.from({ length: 12 }, (_, n) => allocator.addressOf(vm(n.toString(16)))).filter(
            (a) => a !== undefined,
          );
          expect(new Set(owned).size).toBe(owned.length);
          for (const one of owned) expect(allocator.quarantined().has(one)).toBe(false);
          expect(owned).not.toContain(address('10.0.0.12'));
          const { size, used, reserved, quarantined, free } = allocator.counts();
          expect(used).toBe(owned.length);
          expect(used + reserved + quarantined + free).toBe(size);
          expect(Math.min(reserved, quarantined, free)).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('the cost of excluded ranges grows with their number', () => {
  it('1,024 ranges of 8,192 addresses each in a /8 take 1,024 steps, not one step per address', () => {
    const [addOne, addRange] = (['add', 'addRange'] as const).map((name) => vi.spyOn(AddressBitmap.prototype, name));
    const exclude = Array.from({ length: 1_024 }, (_, index) => {
      const first = address('10.1.0.0') + index * 10_000;
      return `${formatIpv4Address(first)}-${formatIpv4Address(first + 8_191)}`;
    });
    const pool = poolOf({ cidr: '10.0.0.0/8', start: '10.1.0.0', end: '10.255.255.254', exclude });
    const allocator = new AddressAllocator(pool);
    expect([addOne?.mock.calls.length, addRange?.mock.calls.length]).toEqual([0, 1_024]);
    expect(allocator.counts()).toMatchObject({ size: 255 * 65_536 - 1 - 1_024 * 8_192 });
    expect(outcome(allocator.allocate(vm('a')))).toBe('10.1.32.0');
    vi.restoreAllMocks();
  });
});
