import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressTable } from './address-table.js';

const FIRST = 10 * 2 ** 24;
const addresses = fc.integer({ min: 250, max: 800 }).map((offset) => FIRST + offset);
const values = fc.constantFrom({ name: 'one' }, { name: 'other' }, { name: 'third' });
const entries = fc.array(fc.tuple(addresses, values), { maxLength: 12 });

describe('values by address', () => {
  it('law: a version after changes equals a sorted Map, and the former version does not change', () => {
    fc.assert(
      fc.property(entries, fc.array(addresses), entries, (begun, removed, set) => {
        const before = AddressTable.of(begun);
        const expected = new Map(begun);
        for (const address of removed) expected.delete(address);
        for (const [address, value] of set) expected.set(address, value);
        const after = before.with({ removed, set });
        const sorted = (map: ReadonlyMap<number, unknown>) => [...map].toSorted(([one], [other]) => one - other);
        expect([...after.entries()]).toEqual(sorted(expected));
        expect([...after.values()]).toEqual(sorted(expected).map(([, value]) => value));
        expect(after.size).toBe(expected.size);
        expect([...before.entries()]).toEqual(sorted(new Map(begun)));
        const visited: unknown[] = [];
        after.each((address, value) => visited.push([address, value]));
        expect(visited).toEqual(sorted(expected));
      }),
    );
  });

  it('law: differences are the addresses whose values are not the same object, whether blocks are shared or not', () => {
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const [before, after] = [AddressTable.of(one), AddressTable.of(other)];
        const all = [...one, ...other].map(([address]) => address);
        const expected = new Set(all.filter((address) => before.get(address) !== after.get(address)));
        expect(new Set(after.differences(before))).toEqual(expected);
        const shared = after.sharing(before);
        expect(new Set(shared.differences(before))).toEqual(expected);
        expect([...shared.entries()]).toEqual([...after.entries()]);
      }),
    );
  });

  it('has addresses above 127.255.255.255, and can be empty', () => {
    const last = 2 ** 32 - 1;
    const table = AddressTable.of([[last, { name: 'one' }]]);
    expect([table.get(last), table.has(last - 1), table.get(0)]).toEqual([{ name: 'one' }, false, undefined]);
    expect([...table.with({ removed: [last], set: [] }).entries()]).toEqual([]);
  });
});
