import { expect, it } from 'vitest';
import { ConflictedLeases } from './conflicted-leases.js';

const A = { macAddress: '02:00:00:00:00:0a', address: 10 };
const B = { macAddress: '02:00:00:00:00:0b', address: 11 };

it('a lease in conflict is left out until its client has another address or the time is over, in its pool alone', () => {
  const conflicts = new ConflictedLeases();
  expect(conflicts.without('net', [A, B])).toEqual([A, B]);
  conflicts.note({ poolName: 'net', ...A, untilMs: 1_000 });
  expect(conflicts.without('net', [A, B])).toEqual([B]);
  expect(conflicts.without('other', [A, B])).toEqual([A, B]);
  expect(conflicts.without('net', [{ ...A, address: 12 }, B])).toHaveLength(2);
  expect(conflicts.expire(999)).toEqual(new Set());
  expect(conflicts.without('net', [A, B])).toEqual([B]);
  expect(conflicts.expire(1_000)).toEqual(new Set(['net']));
  expect(conflicts.without('net', [A, B])).toEqual([A, B]);
});

it('the assignments of pools are not copied while there is no conflict', () => {
  const conflicts = new ConflictedLeases();
  const assignments = [A, B];
  expect(conflicts.without('net', assignments)).toBe(assignments);
  conflicts.note({ poolName: 'net', ...A, untilMs: 1 });
  conflicts.expire(1);
  expect(conflicts.without('net', assignments)).toBe(assignments);
});
