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

function told(plan: AssignmentPlan): Record<string, string> {
  const given = plan.assignments.map(({ macAddress, address }) => [macAddress.slice(-2), formatIpv4Address(address)]);
  const refused = plan.refused.map(({ macAddress, reason }) => [`${macAddress.slice(-2)}!`, reason]);
  return Object.fromEntries([...given, ...refused]);
}

describe('planAssignments', () => {
  it('does not depend on the order of anything that is handed in', () => {
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
    expect(told(plan)).toEqual({ '01': '10.0.0.10' });
  });

  it('tells the story of a pool', () => {
    const pool = poolOf();
    const first = planAssignments(pool, [claim('b', 2), claim('a', 1)], { recorded: NOTHING_RECORDED, nowMs: 0 });
    expect(told(first)).toEqual({ '01': '10.0.0.10', '02': '10.0.0.11' });

    const newcomerFirst = planAssignments(pool, [claim('0', 3), claim('a', 1), claim('b', 2)], { recorded: first, nowMs: 0 });
    expect(told(newcomerFirst), 'assigned first').toEqual({ '01': '10.0.0.10', '02': '10.0.0.11', '03': '10.0.0.12' });

    const gone = planAssignments(pool, [claim('b', 2)], { recorded: first, nowMs: 0 });
    expect(told(gone)).toEqual({ '02': '10.0.0.11' });

    const pinned = planAssignments(pool, [claim('a', 1, '10.0.0.13'), claim('b', 2)], { recorded: first, nowMs: 0 });
    expect(told(pinned), 'moves where it is pinned').toEqual({ '01': '10.0.0.13', '02': '10.0.0.11' });

    const swapped = planAssignments(pool, [claim('a', 1, '10.0.0.11'), claim('b', 2, '10.0.0.10')], {
      recorded: first,
      nowMs: 0,
    });
    expect(told(swapped), 'a swap in one step').toEqual({ '01': '10.0.0.11', '02': '10.0.0.10' });

    const wanted = planAssignments(pool, [claim('a', 1), claim('c', 3, '10.0.0.10')], { recorded: first, nowMs: 0 });
    expect(told(wanted), 'nobody loses an address to a wish').toEqual({ '01': '10.0.0.10', '03!': 'address-taken' });
  });

  it('meets reservations that nobody claims, and refuses a MAC address that two claim', () => {
    const pool = poolOf({ reservations: [{ macAddress: mac(9), address: '10.0.0.10', hostname: 'printer' }] });
    const plan = planAssignments(pool, [claim('a', 1), claim('b', 1)], { recorded: NOTHING_RECORDED, nowMs: 0 });
    expect(told(plan)).toEqual({ '01': '10.0.0.11', '09': '10.0.0.10', '01!': 'mac-address-claimed-twice' });
    expect(plan.assignments.find(({ macAddress }) => macAddress === mac(9))?.hostname).toBe('printer');
  });

  it('keeps quarantined addresses back until their time', () => {
    const recorded = { assignments: [], quarantines: [{ address: ip('10.0.0.10'), untilMs: 100 }] };
    expect(told(planAssignments(poolOf(), [claim('a', 1)], { recorded: recorded, nowMs: 99 }))).toEqual({ '01': '10.0.0.11' });
    expect(told(planAssignments(poolOf(), [claim('a', 1)], { recorded: recorded, nowMs: 100 }))).toEqual({ '01': '10.0.0.10' });
  });

  it('says why, and what to do', () => {
    const plan = planAssignments(poolOf({ end: '10.0.0.10' }), [claim('a', 1), claim('b', 2), claim('c', 3, '10.0.0.9')], {
      recorded: NOTHING_RECORDED,
      nowMs: 0,
    });
    expect(plan.refused.map(({ message }) => message)).toEqual([
      'pool default/net cannot give 10.0.0.9 to 02:00:00:00:00:03: it lies outside start to end; choose another, or reserve it',
      'pool default/net cannot give an address to 02:00:00:00:00:02: every address is in use; widen the range or remove virtual machines',
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

  it('never two owners; planning again changes nothing; shuffled input gives the same plan', () => {
    fc.assert(
      fc.property(claims, claims, (before, after) => {
        const pool = poolOf({ reservations: [{ macAddress: mac(1), address: '10.0.0.12' }] });
        const recorded = planAssignments(pool, toClaims(before), { recorded: NOTHING_RECORDED, nowMs: 0 });
        const plan = planAssignments(pool, toClaims(after), { recorded: recorded, nowMs: 0 });
        expect(new Set(plan.assignments.map(({ address }) => address)).size).toBe(plan.assignments.length);
        expect(new Set(plan.assignments.map(({ macAddress }) => macAddress)).size).toBe(plan.assignments.length);
        expect(told(planAssignments(pool, toClaims(after), { recorded: plan, nowMs: 0 }))).toEqual(told(plan));
        expect(told(planAssignments(pool, toClaims(after.toReversed()), { recorded: recorded, nowMs: 0 }))).toEqual(told(plan));
      }),
    );
  });
});
