import type { Assignment } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedAssignments } from './changed-assignments.js';
import { readRecordedAddresses } from './recorded-addresses.js';

const [A, B, C] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'];

const read = (allocated: Readonly<Record<string, string>>) =>
  readRecordedAddresses({ metadata: { name: 'p' }, status: { ipv4: { allocated } } });

function changes(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
  const { addressOf } = read(before);
  const changed = changedAssignments({ allocated: before, size: Object.keys(before).length }, after, (macAddress) =>
    addressOf.has(macAddress),
  );
  if (changed === undefined) return undefined;
  const { size, ...rest } = changed;
  expect(size).toBe(Object.keys(after).length);
  return rest;
}

describe('changedAssignments', () => {
  const before = { '10.0.0.1': 'RESERVED', '10.0.0.10': A, '10.0.0.11': B } as const;

  it('one more, one less, one that moves, two that swap, an address that changes its client, a mark', () => {
    expect(changes(before, { ...before, '10.0.0.12': C })).toEqual({
      removed: [],
      assigned: [{ macAddress: C, address: 0x0a00000c }],
    });
    expect(changes(before, { '10.0.0.1': 'RESERVED', '10.0.0.11': B })).toEqual({ removed: [A], assigned: [] });
    expect(changes(before, { '10.0.0.11': B, '10.0.0.12': A })).toEqual({
      removed: [],
      assigned: [{ macAddress: A, address: 0x0a00000c }],
    });
    expect(changes(before, { ...before, '10.0.0.10': B, '10.0.0.11': A })?.assigned).toHaveLength(2);
    expect(changes(before, { ...before, '10.0.0.10': C })).toMatchObject({ removed: [A], assigned: [{ macAddress: C }] });
    expect(changes(before, { ...before, '10.0.0.10': 'EXCLUDED' })).toEqual({ removed: [A], assigned: [] });
    expect(changes(before, before)).toEqual({ removed: [], assigned: [] });
  });

  it.each([
    ['an entry that makes no sense', { ...before, '10.0.0.12': 'x' }],
    ['a key that is not an address', { ...before, here: C }],
    ['a second address of a client', { ...before, '10.0.0.12': A }],
    ['two new addresses of a client', { ...before, '10.0.0.12': C, '10.0.0.13': C }],
  ])('need a full parse: %s', (_, after) => {
    expect(changes(before, after)).toBeUndefined();
  });

  it('law: the earlier clients with the changes are the later ones', () => {
    const client = fc.oneof(
      { weight: 12, arbitrary: fc.nat(9).map((number) => `02:00:00:00:00:0${number}`) },
      fc.constantFrom('RESERVED', 'EXCLUDED', 'nonsense', A.toUpperCase()),
    );
    const allocated = fc.dictionary(
      fc.nat(9).map((number) => `10.0.0.${number}`),
      client,
      { maxKeys: 6 },
    );
    let compared = 0;
    fc.assert(
      fc.property(allocated, allocated, fc.array(fc.nat(5)), (one, other, kept) => {
        const before = { ...one };
        const after = { ...other };
        // Most entries stay, as in a cluster.
        for (const index of kept) {
          const key = Object.keys(before)[index];
          if (key !== undefined) after[key] = before[key] as string;
        }
        fc.pre(read(before).unreadable.length === 0);
        const changed = changes(before, after);
        if (changed === undefined) return;
        compared++;
        const clients = new Map(read(before).assignments.map((assignment) => [assignment.macAddress, assignment]));
        for (const macAddress of changed.removed) clients.delete(macAddress);
        for (const assignment of changed.assigned) clients.set(assignment.macAddress, assignment);
        const sorted = (assignments: Iterable<Assignment>) =>
          [...assignments].toSorted((left, right) => left.address - right.address);
        expect(sorted(clients.values())).toEqual(sorted(read(after).assignments));
        expect(read(after).unreadable).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    expect(compared).toBeGreaterThan(100);
  });
});
