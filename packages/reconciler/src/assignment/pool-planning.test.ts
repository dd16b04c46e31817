import { formatIpv4Address, type Pool, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AddressClaim } from './address-request.js';
import type { AssignmentPlan, KnownState, LastOwners } from './assignment-plan.js';
import { planAssignments } from './plan-assignments.js';
import { planRequests } from './plan-requests.js';

const ip = (last: number): number => parseIpv4Address(`10.0.0.${last}`) as number;
const mac = (n: number): string => `02:00:00:00:00:${n.toString(16).padStart(2, '0')}`;

function poolOf(more: Partial<Parameters<typeof validatePool>[0]> = {}): Pool {
  const base = { name: 'default/net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.15' };
  const checked = validatePool({ ...base, ...more });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

/** By client (last octet of its MAC address): last octet of its address, and `!` for a refusal. */
function shown({ assignments, refused }: AssignmentPlan): Record<string, number | string> {
  return Object.fromEntries([
    ...assignments.map(({ macAddress, address }) => [macAddress.slice(-2), address - ip(0)] as const),
    ...refused.map(({ owner, macAddress, reason }) => [`${owner} ${macAddress.slice(-2)}!`, reason] as const),
  ]);
}

interface Known {
  readonly recorded?: Readonly<Record<number, number>>;
  readonly quarantines?: KnownState['recorded']['quarantines'];
  readonly unavailable?: readonly number[];
  readonly lastOwners?: Readonly<Record<number, readonly [owner: string, address: number]>>;
  readonly nowMs?: number;
}

function known({ recorded = {}, quarantines = [], unavailable = [], lastOwners = {}, nowMs = 0 }: Known): KnownState {
  const assignments = Object.entries(recorded).map(([n, last]) => ({ macAddress: mac(Number(n)), address: ip(last) }));
  const owners: LastOwners = new Map(
    Object.entries(lastOwners).map(([n, [owner, last]]) => [mac(Number(n)), { owner, address: ip(last) }]),
  );
  return { recorded: { assignments, quarantines, unavailable: unavailable.map(ip) }, nowMs, lastOwners: owners };
}

const claim = (owner: string, n: number, more: Partial<AddressClaim> = {}): AddressClaim => ({
  owner,
  macAddress: mac(n),
  ...more,
});
const moving = (owner: string, n: number, last: number) => claim(owner, n, { wanted: ip(last) });
const plan = (claims: readonly AddressClaim[], state: Known = {}, pool = poolOf()) => planAssignments(pool, claims, known(state));

describe('a record with room for two clients', () => {
  const limited = (claims: readonly AddressClaim[], state: Known = {}, pool = poolOf()) => {
    const requests = claims.map(({ owner, ...one }) => ({ owner, claims: [{ ...one, poolKey: '' }] }));
    return planRequests([{ ...known(state), key: '', pool, mostClients: 2 }], requests).get('') as AssignmentPlan;
  };

  it('accepts two, refuses the third with an explanation, and accepts it when one is gone', () => {
    const full = limited([claim('a', 1), claim('b', 2), claim('c', 3)]);
    expect(shown(full)).toEqual({ '01': 10, '02': 11, 'c 03!': 'pool-record-full' });
    expect(full.refused[0]?.message).toBe(
      'pool default/net cannot assign an address to 02:00:00:00:00:03: it records 2 addresses, which is the most that one IPPool has room for; delete virtual machines, or attach some to another network with an IPPool of its own',
    );
    expect(shown(limited([claim('b', 2), claim('c', 3)], { recorded: { 1: 10, 2: 11 } }))).toEqual({ '02': 11, '03': 10 });
  });

  it('keeps all recorded clients, lets them move, and adds no reservations', () => {
    const recorded = { 1: 10, 2: 11, 3: 12 };
    const claims = [claim('a', 1), moving('b', 2, 14), claim('c', 3), claim('d', 4, { previous: ip(13) })];
    expect(shown(limited(claims, { recorded }))).toEqual({ '01': 10, '02': 14, '03': 12, 'd 04!': 'pool-record-full' });
    const pool = poolOf({ reservations: [{ macAddress: mac(9), address: '10.0.0.15' }] });
    expect(shown(limited([claim('a', 1), claim('b', 2)], { recorded: { 1: 10, 2: 11 } }, pool))).toEqual({
      '01': 10,
      '02': 11,
      'reservation of default/net 09!': 'pool-record-full',
    });
  });
});

describe('a chain of moves', () => {
  it('takes one plan if all succeed', () => {
    const claims = [moving('a', 1, 11), moving('b', 2, 12), moving('c', 3, 13)];
    expect(shown(plan(claims, { recorded: { 1: 10, 2: 11, 3: 12 } }))).toEqual({ '01': 11, '02': 12, '03': 13 });
  });

  it.each([
    ['the last one wants an excluded address', 15, 'address-unavailable'],
    ['the last one wants an address outside the range', 20, 'address-outside-pool'],
    ['the last one wants the address of a client that stays', 14, 'address-taken'],
  ])('none moves, and no address has two owners: %s', (_, last, reason) => {
    const claims = [moving('a', 1, 11), moving('b', 2, 12), moving('c', 3, last), claim('d', 4)];
    const planned = plan(claims, { recorded: { 1: 10, 2: 11, 3: 12, 4: 14 } }, poolOf({ exclude: ['10.0.0.15'] }));
    expect(shown(planned)).toEqual({
      '01': 10,
      '02': 11,
      '03': 12,
      '04': 14,
      'a 01!': 'address-taken',
      'b 02!': 'address-taken',
      'c 03!': reason,
    });
    const addresses = planned.assignments.map(({ address }) => address);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('the failure of one does not stop moves that do not depend on it', () => {
    const claims = [moving('a', 1, 11), moving('b', 2, 20), moving('c', 3, 13), moving('d', 4, 12)];
    expect(shown(plan(claims, { recorded: { 1: 10, 2: 11, 3: 12, 4: 14 } }))).toEqual({
      '01': 10,
      '02': 11,
      '03': 13,
      '04': 12,
      'a 01!': 'address-taken',
      'b 02!': 'address-outside-pool',
    });
  });

  it('a circle of three moves in one plan, and a fourth client that wants to join stays', () => {
    const claims = [moving('a', 1, 11), moving('b', 2, 12), moving('c', 3, 10), moving('d', 4, 10)];
    expect(shown(plan(claims, { recorded: { 1: 10, 2: 11, 3: 12, 4: 13 } }))).toEqual({
      '01': 11,
      '02': 12,
      '03': 10,
      '04': 13,
      'd 04!': 'address-taken',
    });
  });

  it('no client moves to a quarantined address', () => {
    const state = { recorded: { 1: 10, 2: 11 }, quarantines: [{ address: ip(12), untilMs: 1 }] };
    expect(shown(plan([moving('a', 1, 11), moving('b', 2, 12)], state))).toEqual({
      '01': 10,
      '02': 11,
      'a 01!': 'address-taken',
      'b 02!': 'address-quarantined',
    });
  });

  it('law: a moving client ends with its wanted or its old address, and no address has two owners', () => {
    const last = fc.integer({ min: 8, max: 16 });
    const machine = fc.record({ has: fc.option(last, { nil: undefined }), wants: fc.option(last, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 8 }), (machines) => {
        const taken = new Set<number>();
        const recorded: Record<number, number> = {};
        for (const [n, { has }] of machines.entries()) {
          if (has === undefined || taken.has(has) || has < 10) continue;
          taken.add(has);
          recorded[n] = has;
        }
        const claims = machines.map(({ wants }, n) => (wants === undefined ? claim(`vm-${n}`, n) : moving(`vm-${n}`, n, wants)));
        const { assignments } = plan(claims, { recorded });
        const addressOf = new Map(assignments.map(({ macAddress, address }) => [macAddress, address - ip(0)]));
        expect(new Set(addressOf.values()).size).toBe(assignments.length);
        for (const [n, { wants }] of machines.entries()) {
          const had = recorded[n];
          const has = addressOf.get(mac(n));
          if (had !== undefined) expect([had, wants]).toContain(has);
          else if (wants !== undefined) expect([undefined, wants]).toContain(has);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('an address that a client had before', () => {
  it('is assigned again while it is free, unless another one is wanted', () => {
    const previous = ip(13);
    expect(shown(plan([claim('a', 1, { previous }), claim('0', 2)]))).toEqual({ '01': 13, '02': 10 });
    expect(shown(plan([claim('a', 1, { previous, wanted: ip(12) })]))).toEqual({ '01': 12 });
    expect(shown(plan([claim('a', 1, { previous, wanted: previous })]))).toEqual({ '01': 13 });
  });

  it('goes to the client for which it is recorded', () => {
    expect(shown(plan([claim('a', 1, { previous: ip(13) }), claim('b', 2)], { recorded: { 2: 13 } }))).toEqual({
      '01': 10,
      '02': 13,
    });
  });

  it('is not assigned to a client that has one', () => {
    expect(shown(plan([claim('a', 1, { previous: ip(13) })], { recorded: { 1: 11 } }))).toEqual({ '01': 11 });
  });
});

describe('several claims to one MAC address', () => {
  const first = claim('a', 1, { createdAt: '2026-01-01' });
  const second = claim('b', 1, { createdAt: '2026-01-02' });

  it('the oldest wins if nothing else is known', () => {
    expect(shown(plan([second, first]))).toEqual({ '01': 10, 'b 01!': 'mac-address-claimed-twice' });
    expect(plan([second, first]).owners.get(mac(1))).toBe('a');
  });

  it('a claim whose record has the recorded address wins over an older one', () => {
    const had = { ...second, previous: ip(12) };
    expect(plan([first, had], { recorded: { 1: 12 } }).owners.get(mac(1))).toBe('b');
    expect(plan([first, had], { recorded: { 1: 13 } }).owners.get(mac(1)), 'another address').toBe('a');
  });

  it('among several with that record, the one that has the address now wins', () => {
    const once = { ...first, previous: ip(12) };
    const now = { ...second, previous: ip(12), holdsPrevious: true } as const;
    expect(plan([once, now], { recorded: { 1: 12 } }).owners.get(mac(1))).toBe('b');
  });

  it('the owner in the last plan wins over all others, as long as the address is the same', () => {
    const now = { ...first, previous: ip(12), holdsPrevious: true } as const;
    const state = { recorded: { 1: 12 }, lastOwners: { 1: ['b', 12] } } as const;
    expect(plan([now, second], state).owners.get(mac(1))).toBe('b');
    expect(plan([now, second], { ...state, lastOwners: { 1: ['b', 13] } }).owners.get(mac(1))).toBe('a');
  });

  it('the message names the other owner', () => {
    expect(plan([first, second]).refused).toEqual([
      {
        owner: 'b',
        macAddress: mac(1),
        reason: 'mac-address-claimed-twice',
        message: `${mac(1)} is claimed by a too; give one of the interfaces another MAC address`,
      },
    ]);
  });
});

describe('an interface whose new MAC address belongs to another one', () => {
  const replacing = claim('b', 2, { createdAt: '2', previous: ip(12), holdsPrevious: true, replaces: [mac(1)] });

  it('keeps its address under the former MAC address', () => {
    const planned = plan([claim('a', 2, { createdAt: '1' }), replacing, claim('c', 3)], { recorded: { 1: 12, 2: 10 } });
    expect(shown(planned)).toEqual({ '01': 12, '02': 10, '03': 11, 'b 02!': 'mac-address-claimed-twice' });
    expect(planned.owners.get(mac(1))).toBe('b');
  });

  it('and a third claimant of the former MAC address is refused, if the last plan shows the owner', () => {
    const claims = [claim('a', 2, { createdAt: '1' }), replacing, claim('c', 1, { createdAt: '0' })];
    const planned = plan(claims, { recorded: { 1: 12, 2: 10 }, lastOwners: { 1: ['b', 12] } });
    expect(shown(planned)).toEqual({
      '01': 12,
      '02': 10,
      'b 02!': 'mac-address-claimed-twice',
      'c 01!': 'mac-address-claimed-twice',
    });
    expect(planned.owners.get(mac(1))).toBe('b');
  });

  it('an interface without a recorded address keeps none', () => {
    expect(shown(plan([claim('a', 2, { createdAt: '1' }), replacing], { recorded: { 2: 10 } }))).toEqual({
      '02': 10,
      'b 02!': 'mac-address-claimed-twice',
    });
  });
});

describe('the order of claims', () => {
  it('older claims come first, then by name; claims of a particular address come before those of any', () => {
    const aged = (owner: string, n: number, createdAt: string) => claim(owner, n, { createdAt });
    expect(shown(plan([aged('a', 1, '2'), aged('b', 2, '1')]))).toEqual({ '01': 11, '02': 10 });
    expect(shown(plan([aged('b', 2, '1'), aged('a', 1, '1')]))).toEqual({ '01': 10, '02': 11 });
    expect(shown(plan([aged('a', 1, '1'), { ...moving('b', 2, 10), createdAt: '2' }]))).toEqual({ '01': 11, '02': 10 });
  });

  it('an address that a client had before and wants comes before an older one that wants it', () => {
    const older = { ...moving('0', 2, 13), createdAt: '1' };
    expect(shown(plan([older, claim('a', 1, { createdAt: '2', previous: ip(13), wanted: ip(13) })]))).toEqual({
      '01': 13,
      '0 02!': 'address-taken',
    });
  });
});

describe('reservations and unavailable addresses', () => {
  const reserving = (n: number, last: number, hostname?: string) =>
    poolOf({ reservations: [{ macAddress: mac(n), address: `10.0.0.${last}`, ...(hostname !== undefined && { hostname }) }] });

  it('a reservation waits until the client that has its address releases it', () => {
    const pool = reserving(1, 12, 'printer');
    expect(shown(plan([claim('a', 1), claim('b', 2)], { recorded: { 2: 12 } }, pool))).toEqual({
      '02': 12,
      'a 01!': 'address-taken',
    });
    expect(shown(plan([claim('a', 1)], { recorded: { 1: 10, 2: 12 } }, pool))).toEqual({ '01': 12 });
  });

  it('a reservation without a claim is made with its host name, or reported if that is impossible', () => {
    const met = plan([], {}, reserving(1, 12, 'printer'));
    expect(met.assignments).toEqual([{ macAddress: mac(1), address: ip(12), hostname: 'printer' }]);
    const waiting = plan([claim('b', 2)], { recorded: { 2: 12 } }, reserving(1, 12));
    expect(shown(waiting)).toEqual({ '02': 12, 'reservation of default/net 01!': 'address-taken' });
  });

  it('a claim may want another address than the reserved one', () => {
    expect(shown(plan([moving('a', 1, 13)], {}, reserving(1, 12)))).toEqual({ '01': 13 });
    expect(shown(plan([claim('a', 1, { wanted: 0 })], {}, reserving(1, 12))), '0.0.0.0: any').toEqual({ '01': 12 });
  });

  it('an unavailable address is never assigned, and a client that has it there keeps it only if the pool allows it', () => {
    expect(shown(plan([claim('a', 1), claim('b', 2)], { unavailable: [10] }))).toEqual({ '01': 11, '02': 12 });
    expect(shown(plan([moving('a', 1, 10)], { unavailable: [10] }))).toEqual({ 'a 01!': 'address-unavailable' });
    expect(shown(plan([claim('a', 1)], { unavailable: [10], recorded: { 1: 10 } }))).toEqual({ '01': 11 });
    expect(shown(plan([claim('a', 1)], { unavailable: [200] })), 'outside the range').toEqual({ '01': 10 });
    expect(plan([claim('a', 1)], { unavailable: [10, 15] }).counts).toMatchObject({ used: 1, free: 3 });
  });

  it('a reservation of an unavailable address waits', () => {
    expect(shown(plan([claim('a', 1)], { unavailable: [12] }, reserving(1, 12)))).toMatchObject({
      'a 01!': 'address-unavailable',
    });
  });

  it('addresses outside a new range or inside new exclusions stay with their clients', () => {
    const pool = poolOf({ exclude: ['10.0.0.11'], end: '10.0.0.12' });
    expect(shown(plan([claim('a', 1), claim('b', 2), claim('c', 3)], { recorded: { 1: 11, 2: 14 } }, pool))).toEqual({
      '01': 11,
      '02': 14,
      '03': 10,
    });
  });
});

/** In a smaller pool at most a quarter is quarantined. */
const LARGE = poolOf({ end: '10.0.0.40' });

describe('quarantines', () => {
  const quarantines = [
    { address: ip(11), untilMs: 5, usedBy: mac(9) },
    { address: ip(10), untilMs: 7 },
  ];

  it('are in the plan until they end, in order of addresses', () => {
    expect(plan([], { quarantines, nowMs: 4 }, LARGE).quarantines).toEqual([quarantines[1], quarantines[0]]);
    expect(plan([], { quarantines, nowMs: 5 }, LARGE).quarantines).toEqual([quarantines[1]]);
    expect(plan([], { quarantines, nowMs: 7 }, LARGE).quarantines).toEqual([]);
  });

  it('the address of a client that keeps it is not in the plan', () => {
    expect(plan([claim('a', 1), moving('b', 2, 10)], { quarantines, nowMs: 0 }).refused[0]?.message).toBe(
      `pool default/net cannot assign 10.0.0.10 to ${mac(2)}: another host on the network uses it; choose another, or remove that host and wait until the quarantine in status.ipv4.quarantined of the IPPool ends`,
    );
  });
});

describe('why an address is refused', () => {
  it.each<readonly [string, AddressClaim, Known, string]>([
    [
      'excluded',
      moving('a', 1, 15),
      {},
      '10.0.0.15 to 02:00:00:00:00:01: it is excluded, or the address of the server or the router; choose another',
    ],
    [
      'reserved',
      moving('a', 1, 14),
      {},
      `10.0.0.14 to 02:00:00:00:00:01: it is reserved for ${mac(8)}; choose another, or change the reservation`,
    ],
    [
      'taken',
      moving('a', 1, 12),
      { recorded: { 2: 12 } },
      `10.0.0.12 to 02:00:00:00:00:01: ${mac(2)} has it; choose another, or delete the virtual machine with that MAC address first`,
    ],
    [
      'outside the subnet',
      claim('a', 1, { wanted: ip(10) + 256 }),
      {},
      '10.0.1.10 to 02:00:00:00:00:01: it lies outside 10.0.0.0/24; choose another',
    ],
    [
      'outside the range',
      moving('a', 1, 99),
      {},
      '10.0.0.99 to 02:00:00:00:00:01: it lies outside the range of the pool; choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool',
    ],
  ])('%s', (_, refused, state, message) => {
    const pool = poolOf({ exclude: ['10.0.0.15'], reservations: [{ macAddress: mac(8), address: '10.0.0.14' }] });
    const { refused: found } = plan([refused, claim('b', 2)], state, pool);
    expect(found.map((one) => one.message)).toEqual([`pool default/net cannot assign ${message}`]);
  });
});

it('a client that is recorded twice keeps the lower address', () => {
  const assignments = [13, 11].map((last) => ({ macAddress: mac(1), address: ip(last) }));
  const twice = { recorded: { assignments, quarantines: [] }, nowMs: 0 };
  expect(planAssignments(poolOf(), [claim('a', 1)], twice).assignments.map(({ address }) => formatIpv4Address(address))).toEqual([
    '10.0.0.11',
  ]);
});
