import { type Ipv4Address, type MacAddress, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planAssignments } from './plan-assignments.js';

const FIRST = 0x0a00000a;
const COUNT = 8;
const checked = validatePool({
  ...{ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.30' },
  exclude: ['10.0.0.20'],
});
const macOf = (index: number) => `02:00:00:00:00:0${index}` as MacAddress;
const addressAt = (index: number) => (FIRST + index) as Ipv4Address;

it('law: clients that want each other’s addresses move or stay, none shares an address, and each that stays is told rightly why', () => {
  if (!checked.ok) throw new Error('no pool');
  const pool = checked.value;
  // Beyond the recorded ones: free addresses, and one that is excluded.
  const wishes = fc.array(fc.integer({ min: 0, max: COUNT + 3 }), { minLength: COUNT, maxLength: COUNT });
  const told = { moved: 0, stayed: 0 };
  fc.assert(
    fc.property(wishes, (wanted) => {
      const assignments = wanted.map((_, index) => ({ macAddress: macOf(index), address: addressAt(index) }));
      const claims = wanted.map((wish, index) => ({
        ...{ owner: `vm-${index}`, macAddress: macOf(index), createdAt: `${index}` },
        wanted: addressAt(wish === COUNT + 3 ? 10 : wish),
      }));
      const plan = planAssignments(pool, claims, { recorded: { assignments, quarantines: [] }, nowMs: 0 });
      const owners = new Map([...plan.addressOf].map(([macAddress, address]) => [address, macAddress]));
      expect(owners.size).toBe(COUNT);
      const refused = new Set(plan.refused.map(({ macAddress }) => macAddress));
      for (const [index, claim] of claims.entries()) {
        const address = plan.addressOf.get(claim.macAddress);
        expect(address).toBe(refused.has(claim.macAddress) ? addressAt(index) : claim.wanted);
        if (refused.has(claim.macAddress)) {
          told.stayed++;
          expect(claim.wanted === addressAt(10) || owners.has(claim.wanted)).toBe(true);
        } else told.moved++;
      }
    }),
  );
  expect(Math.min(told.moved, told.stayed)).toBeGreaterThan(50);
});
