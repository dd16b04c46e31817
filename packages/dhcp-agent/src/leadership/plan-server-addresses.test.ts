import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerAddress } from '../ports.js';
import { FOR_EVER_SECONDS, type PresentAddress, planServerAddresses } from './plan-server-addresses.js';

const at = (interfaceName: string, address = 2, interfaceIndex = 7): ServerAddress => ({
  interfaceName,
  interfaceIndex,
  address,
  prefixLength: 24,
});
const certain = (address: ServerAddress): PresentAddress => ({ ...address, isCertain: true });
const uncertain = (address: ServerAddress): PresentAddress => ({ ...address, isCertain: false });
const [A, B] = [at('net0', 2), at('net1', 3)];

interface Case {
  readonly name: string;
  readonly wanted?: readonly ServerAddress[];
  readonly present?: readonly PresentAddress[];
  readonly remainingMs?: number;
  readonly add?: readonly ServerAddress[];
  readonly prolong?: readonly ServerAddress[];
  readonly remove?: readonly PresentAddress[];
}

describe('planServerAddresses', () => {
  it.each<Case>([
    { name: 'nothing wanted, nothing there: nothing to do' },
    { name: 'a wanted address that is missing is added', wanted: [A], add: [A] },
    { name: 'a wanted address that is there is prolonged', wanted: [A], present: [certain(A)], prolong: [A] },
    { name: 'one that may be there is added again', wanted: [A], present: [uncertain(A)], add: [A] },
    { name: 'one that is not wanted is removed', present: [certain(A)], remove: [certain(A)] },
    { name: 'one that is not wanted and may be there is removed', present: [uncertain(A)], remove: [uncertain(A)] },
    {
      name: 'one of two is missing: the other is prolonged',
      wanted: [A, B],
      present: [certain(B)],
      add: [A],
      prolong: [B],
    },
    {
      name: 'one of two is not wanted any more',
      wanted: [A],
      present: [certain(A), certain(B)],
      prolong: [A],
      remove: [certain(B)],
    },
    {
      name: 'another address on the same interface replaces it',
      wanted: [at('net0', 9)],
      present: [certain(A)],
      add: [at('net0', 9)],
      remove: [certain(A)],
    },
    {
      name: 'another interface of the same name gets the address',
      wanted: [at('net0', 2, 8)],
      present: [certain(A)],
      add: [at('net0', 2, 8)],
      remove: [certain(A)],
    },
    {
      name: 'another prefix length replaces the address',
      wanted: [{ ...A, prefixLength: 25 }],
      present: [certain(A)],
      add: [{ ...A, prefixLength: 25 }],
      remove: [certain(A)],
    },
    {
      name: 'the same address on another interface is another one',
      wanted: [at('net1', 2)],
      present: [certain(A)],
      add: [at('net1', 2)],
      remove: [certain(A)],
    },
    { name: 'less than a second is left: nothing is added', wanted: [A], remainingMs: 999 },
    { name: 'less than a second is left: nothing is prolonged', wanted: [A], present: [certain(A)], remainingMs: 999 },
    { name: 'exactly a second is left: it is added', wanted: [A], remainingMs: 1_000, add: [A] },
    {
      name: 'not leader: unwanted addresses are removed nevertheless',
      present: [certain(A)],
      remainingMs: 0,
      remove: [certain(A)],
    },
    { name: 'long after the end', wanted: [A, B], present: [certain(A)], remainingMs: -60_000 },
  ])('$name', ({ wanted = [], present = [], remainingMs = 2_400, add = [], prolong = [], remove = [] }) => {
    expect(planServerAddresses(wanted, present, remainingMs)).toMatchObject({ add, prolong, remove });
  });

  it.each([
    [2_400, 2],
    [2_999, 2],
    [3_000, 3],
    [1_000, 1],
    [999, 0],
    [-5_000, 0],
    [FOR_EVER_SECONDS * 1_000 + 5_000, FOR_EVER_SECONDS],
    [Number.POSITIVE_INFINITY, FOR_EVER_SECONDS],
  ])('%d ms are %d whole seconds', (remainingMs, seconds) => {
    expect(planServerAddresses([A], [], remainingMs).seconds).toBe(seconds);
  });
});

describe('laws of planServerAddresses', () => {
  const addresses = fc.uniqueArray(
    fc.record({
      interfaceName: fc.constantFrom('net0', 'net1', 'net2'),
      interfaceIndex: fc.integer({ min: 1, max: 3 }),
      address: fc.integer({ min: 1, max: 3 }),
      prefixLength: fc.constantFrom(24, 25),
    }),
    { selector: ({ interfaceName }) => interfaceName },
  );
  const present = addresses.chain((list) =>
    fc.tuple(...list.map((address) => fc.boolean().map((isCertain) => ({ ...address, isCertain })))),
  );
  const remaining = fc.integer({ min: -5_000, max: 100_000 });

  it('a plan that was carried out leaves nothing to add or remove', () => {
    fc.assert(
      fc.property(addresses, present, (wanted, before) => {
        const { add, prolong } = planServerAddresses(wanted, before, 2_000);
        const after = planServerAddresses(wanted, [...add, ...prolong].map(certain), 2_000);
        expect([after.add, after.remove, after.prolong.length]).toEqual([[], [], wanted.length]);
      }),
    );
  });

  it('the lifetime never exceeds the remaining time', () => {
    fc.assert(
      fc.property(addresses, present, remaining, (wanted, before, remainingMs) => {
        const { seconds, add, prolong } = planServerAddresses(wanted, before, remainingMs);
        expect(seconds * 1_000).toBeLessThanOrEqual(Math.max(0, remainingMs));
        if (seconds === 0) expect([...add, ...prolong]).toEqual([]);
      }),
    );
  });

  it('each address gets one step at most, and only wanted ones are added or prolonged', () => {
    fc.assert(
      fc.property(addresses, present, remaining, (wanted, before, remainingMs) => {
        const { add, prolong } = planServerAddresses(wanted, before, remainingMs);
        const names = [...add, ...prolong].map(({ interfaceName }) => interfaceName);
        expect(new Set(names).size).toBe(names.length);
        for (const address of [...add, ...prolong]) expect(wanted).toContainEqual(address);
      }),
    );
  });

  it('no unwanted address stays, whatever time remains', () => {
    fc.assert(
      fc.property(addresses, present, remaining, (wanted, before, remainingMs) => {
        const { remove } = planServerAddresses(wanted, before, remainingMs);
        for (const { isCertain: _, ...address } of before)
          expect(remove.some((one) => one.interfaceName === address.interfaceName)).toBe(
            !wanted.some((one) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(address))),
          );
      }),
    );
  });

  const sorted = ({ interfaceName, interfaceIndex, address, prefixLength }: ServerAddress) => [
    interfaceName,
    interfaceIndex,
    address,
    prefixLength,
  ];
});
