import { expect, it } from 'vitest';
import { readReportedUses, toReportedUse, withObservedUses } from './observed-use.js';

const MAC = '02:00:00:00:00:66';
const use = (address: number) => ({ address, usedBy: MAC });
const SETTINGS = { isAssigned: (address: number) => address === 3, poolSize: 32, untilMs: 9_000 };

it('addresses that no client has are quarantined; those of clients stay with them', () => {
  const known = [{ address: 1, untilMs: 5_000 }];
  const named = { ...known[0], usedBy: MAC };
  expect(withObservedUses(known, { ...SETTINGS, uses: [use(1), use(2), use(3)] })).toEqual([
    named,
    { address: 2, usedBy: MAC, untilMs: 9_000 },
  ]);
});

it.each([
  [32, 4],
  [200, 25],
  [7, 0],
])('in a pool of %i addresses, %i at most, whoever reports more', (poolSize, most) => {
  const uses = Array.from({ length: 64 }, (_, index) => use(100 + index));
  expect(withObservedUses([], { ...SETTINGS, poolSize, uses })).toHaveLength(most);
});

it('a full quarantine stays as it is', () => {
  const known = Array.from({ length: 8 }, (_, address) => ({ address, untilMs: 5_000 }));
  expect(withObservedUses(known, { ...SETTINGS, uses: [use(20)] })).toEqual(known);
});

it('what agents report is read back, and what makes no sense is left out', () => {
  const observed = { address: 0x0a00000a, usedBy: MAC, assignedTo: '02:00:00:00:00:0a' };
  expect(
    readReportedUses([toReportedUse(observed), { address: 'x', usedBy: MAC }, { address: '10.0.0.1', usedBy: 'x' }]),
  ).toEqual([observed]);
});
