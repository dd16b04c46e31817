import { formatIpv4Address, type Pool, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressClaim, type AssignmentPlan, NOTHING_RECORDED, planAssignments } from './plan-assignments.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const mac = (n: number): string => `02:00:00:00:00:${n.toString(16).padStart(2, '0')}`;

function poolOf(extra: Partial<Parameters<typeof validatePool>[0]> = {}): Pool {
  const base = { name: 'default/net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.13' };
  const checked = validatePool({ ...base, ...extra });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

const claim = (owner: string, n: number, wanted?: string): AddressClaim => ({
  owner,
  macAddress: mac(n),
  ...(wanted !== undefined && { wanted: ip(wanted) }),
});

function summary(plan: AssignmentPlan): Record<string, string> {
  const given = plan.assignments.map(({ macAddress, address }) => [macAddress.slice(-2), formatIpv4Address(address)]);
  const refused = plan.refused.map(({ macAddress, reason }) => [`${macAddress.slice(-2)}!`, reason]);
  return Object.fromEntries([...given, ...refused]);
}

describe('planAssignments', () => {
  it('does not depend on the order of its input', () => {
    const twice = [claim('a', 1, '10.0.0.12'), claim('a', 1, '10.0.0.11')];
    const recorded = {
      assignments: [
        { macAddress: mac(2), address: ip('10.0.0.13') },
        { macAddress: mac(2), address: ip('10.0.0.10') },
      ],
      quarantines: [
        { address: ip('10.0.0.12'), untilMs: 9 },
        { address: ip('10.0.0.11'), untilMs: 9 },
      ],
    };
    const reversed = { assignments: recorded.assignments.toReversed(), quarantines: recorded.quarantines.toReversed() };
    const claims = [claim('b', 2), ...twice];
    const plan = planAssignments(poolOf(), claims, { recorded, nowMs: 0 });
    expect(planAssignments(poolOf(), claims.toReversed(), { recorded: reversed, nowMs: 0 })).toEqual(plan);
  });

  it('0.0.0.0 means any address', () => {
    const plan = planAssignments(poolOf(), [claim('a', 1, '0.0.0.0')], { recorded: NOTHING_RECORDED, nowMs: 0 });
    expect(summary(plan)).toEqual({ '01': '10.0.0.10' });
  });

  it('plays the story of a pool', () => {
    const pool = poolOf();
    const first = planAssignments(pool, [claim('b', 2), claim('a', 1)], { recorded: NOTHING_RECORDED, nowMs: 0 });
    expect(summary(first)).toEqual({ '01': '10.0.0.10', '02': '10.0.0.11' });

    const newcomerFirst = planAssignments(pool, [claim('0', 3), claim('a', 1), claim('b', 2)], { recorded: first, nowMs: 0 });
    expect(summary(newcomerFirst), 'assigned first').toEqual({ '01': '10.0.0.10', '02': '10.0.0.11', '03': '10.0.0.12' });

    const gone = planAssignments(pool, [claim('b', 2)], { recorded: first, nowMs: 0 });
    expect(summary(gone)).toEqual({ '02': '10.0.0.11' });

    const pinned = planAssignments(pool, [claim('a', 1, '10.0.0.13'), claim('b', 2)], { recorded: first, nowMs: 0 });
    expect(summary(pinned), 'moves where it is pinned').toEqual({ '01': '10.0.0.13', '02': '10.0.0.11' });

    const swapped = planAssignments(pool, [claim('a', 1, '10.0.0.11'), claim('b', 2, '10.0.0.10')], {
      recorded: first,
      nowMs: 0,
    });
    expect(summary(swapped), 'a swap in one step').toEqual({ '01': '10.0.0.11', '02': '10.0.0.10' });

    const wanted = planAssignments(pool, [claim('a', 1), claim('c', 3, '10.0.0.10')], { recorded: first, nowMs: 0 });
    expect(summary(wanted), 'no client loses its address because another wants it').toEqual({
      '01': '10.0.0.10',
      '03!': 'address-taken',
    });
  });

  it('a smaller range keeps addresses in use until their claims go', () => {
    const wide = planAssignments(poolOf(), [claim('a', 1), claim('b', 2), claim('c', 3)], {
      recorded: NOTHING_RECORDED,
      nowMs: 0,
    });
    const small = poolOf({ end: '10.0.0.10' });
    const kept = planAssignments(small, [claim('a', 1), claim('b', 2), claim('c', 3), claim('d', 4)], {
      recorded: wide,
      nowMs: 0,
    });
    expect(summary(kept)).toEqual({ '01': '10.0.0.10', '02': '10.0.0.11', '03': '10.0.0.12', '04!': 'pool-exhausted' });
    expect(kept.counts).toMatchObject({ used: 3, free: 0 });
    const later = planAssignments(small, [claim('b', 2, '10.0.0.10'), claim('d', 4)], { recorded: kept, nowMs: 0 });
    expect(summary(later), 'a client that moves releases it').toEqual({ '02': '10.0.0.10', '04!': 'pool-exhausted' });
    const refused = planAssignments(small, [claim('a', 1), claim('b', 2, '10.0.0.10')], { recorded: kept, nowMs: 0 });
    expect(summary(refused), 'a client that cannot move keeps it').toMatchObject({ '01': '10.0.0.10', '02': '10.0.0.11' });
    const elsewhere = poolOf({ cidr: '10.0.1.0/24', serverAddress: '10.0.1.1', start: '10.0.1.10', end: '10.0.1.13' });
    const moved = planAssignments(elsewhere, [claim('b', 2)], { recorded: kept, nowMs: 0 });
    expect(summary(moved), 'an address of another subnet is dropped').toEqual({ '02': '10.0.1.10' });
  });

  it('meets reservations without a claim, and refuses a MAC address that two claim', () => {
    const pool = poolOf({ reservations: [{ macAddress: mac(9), address: '10.0.0.10', hostname: 'printer' }] });
    const plan = planAssignments(pool, [claim('a', 1), claim('b', 1)], { recorded: NOTHING_RECORDED, nowMs: 0 });
    expect(summary(plan)).toEqual({ '01': '10.0.0.11', '09': '10.0.0.10', '01!': 'mac-address-claimed-twice' });
    expect(plan.assignments.find(({ macAddress }) => macAddress === mac(9))?.hostname).toBe('printer');
  });

  it('does not assign quarantined addresses before their time', () => {
    const recorded = { assignments: [], quarantines: [{ address: ip('10.0.0.10'), untilMs: 100 }] };
    expect(summary(planAssignments(poolOf(), [claim('a', 1)], { recorded: recorded, nowMs: 99 }))).toEqual({ '01': '10.0.0.11' });
    expect(summary(planAssignments(poolOf(), [claim('a', 1)], { recorded: recorded, nowMs: 100 }))).toEqual({
      '01': '10.0.0.10',
    });
  });

  it('names the cause and the remedy', () => {
    const plan = planAssignments(poolOf({ end: '10.0.0.10' }), [claim('a', 1), claim('b', 2), claim('c', 3, '10.0.0.9')], {
      recorded: NOTHING_RECORDED,
      nowMs: 0,
    });
    expect(plan.refused.map(({ message }) => message)).toEqual([
      'pool default/net cannot assign 10.0.0.9 to 02:00:00:00:00:03: it lies outside the range of the pool; choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool',
      'pool default/net cannot assign an address to 02:00:00:00:00:02: every address is in use; raise spec.ipv4Config.pool.end of the IPPool (up to 10.0.0.254), or delete virtual machines',
    ]);
  });
});

describe('planAssignments laws', () => {
  const claims = fc.uniqueArray(
    fc.record({
      owner: fc.constantFrom('a', 'b', 'c'),
      n: fc.nat(9),
      wanted: fc.option(fc.integer({ min: 8, max: 15 }), { nil: undefined }),
    }),
    { maxLength: 8, selector: ({ owner, n }) => `${owner}${n}` },
  );
  const toClaims = (records: { owner: string; n: number; wanted: number | undefined }[]) =>
    records.map(({ owner, n, wanted }) => claim(owner, n, wanted === undefined ? undefined : `10.0.0.${wanted}`));

  it('a smaller range: claimed addresses stay, never two owners, planning again changes nothing', () => {
    fc.assert(
      fc.property(claims, claims, fc.integer({ min: 10, max: 13 }), (before, after, end) => {
        const small = poolOf({ end: `10.0.0.${end}`, reservations: [{ macAddress: mac(1), address: '10.0.0.14' }] });
        const recorded = planAssignments(poolOf(), toClaims(before), { recorded: NOTHING_RECORDED, nowMs: 0 });
        const content = toClaims(after).map(({ owner, macAddress }) => ({ owner, macAddress }));
        const plan = planAssignments(small, content, { recorded, nowMs: 0 });
        const addressOf = new Map(plan.assignments.map(({ macAddress, address }) => [macAddress, address]));
        for (const { macAddress, address } of recorded.assignments) {
          const claimed = content.some((one) => one.macAddress === macAddress);
          if (claimed && macAddress !== mac(1)) expect(addressOf.get(macAddress)).toBe(address);
        }
        expect(new Set(addressOf.values()).size).toBe(plan.assignments.length);
        expect(summary(planAssignments(small, content, { recorded: plan, nowMs: 0 }))).toEqual(summary(plan));
        expect(plan.counts.free).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('never two owners; planning again changes nothing; shuffled input gives the same plan', () => {
    fc.assert(
      fc.property(claims, claims, (before, after) => {
        const pool = poolOf({ reservations: [{ macAddress: mac(1), address: '10.0.0.12' }] });
        const recorded = planAssignments(pool, toClaims(before), { recorded: NOTHING_RECORDED, nowMs: 0 });
        const plan = planAssignments(pool, toClaims(after), { recorded: recorded, nowMs: 0 });
        expect(new Set(plan.assignments.map(({ address }) => address)).size).toBe(plan.assignments.length);
        expect(new Set(plan.assignments.map(({ macAddress }) => macAddress)).size).toBe(plan.assignments.length);
        expect(summary(planAssignments(pool, toClaims(after), { recorded: plan, nowMs: 0 }))).toEqual(summary(plan));
        expect(summary(planAssignments(pool, toClaims(after.toReversed()), { recorded: recorded, nowMs: 0 }))).toEqual(
          summary(plan),
        );
      }),
    );
  });
});
