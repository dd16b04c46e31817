import { ConflictedLeases } from '@vmdhcp/dhcp-agent/packet-path';
import { type Assignment, type Lease, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { QUARANTINE_MS } from '../addresses/address-book.js';
import type { PlannedPool } from '../addresses/planned-pool.js';
import { PlannedPools } from './planned-pools.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const ADDRESS_A = 0x0a00000a;
const ADDRESS_B = 0x0a00000b;
const A: Assignment = { macAddress: VM_A, address: ADDRESS_A };
const B: Assignment = { macAddress: VM_B, address: ADDRESS_B };

/** A plan of the pool `name` that assigns these addresses. */
function plan(name: string, assignments: readonly Assignment[], { probes = true, reserves = false } = {}): PlannedPool {
  const reservations = reserves ? [{ macAddress: VM_A, address: '10.0.0.10' }] : [];
  const checked = validatePool({ name, cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', reservations });
  if (!checked.ok) throw new Error('no pool');
  const claims = assignments.map(({ macAddress }, index) => ({ owner: `vm-${index}`, macAddress, index, line: 1, column: 1 }));
  return {
    configured: { pool: checked.value, paused: false, probesConflicts: probes, log: {}, claims },
    assignments,
    refused: [],
    counts: { size: 253, used: assignments.length, free: 253 - assignments.length, quarantined: 0 } as never,
  };
}

/** Pools on a server that remembers what it serves, and all events. */
function pools({ mayProbe = true, bound = new Set<string>(), savesFail = false } = {}) {
  const log: string[] = [];
  const clock = { nowMs: 1_000, setBackMs: 0 };
  const served = new Map<string, Lease[]>();
  /** Addresses that unknown clients use, and pools in which one of these leases ended. */
  const usedByUnknown = new Set<number>();
  const waitNoMore: string[] = [];
  const made = new PlannedPools({
    logger: { warn: (_: unknown, message?: string) => void log.push(`warn ${message}`) } as never,
    nowMs: () => clock.nowMs - clock.setBackMs,
    steadyMs: () => clock.nowMs,
    server: {
      setPool: (pool, assignments, expiryOf) => {
        const before = served.get(pool.name);
        const leases = [...assignments].map(({ macAddress, address }): Lease => {
          const expiresAtMs = expiryOf?.(macAddress);
          return { poolName: pool.name, macAddress, address, ...(expiresAtMs !== undefined && { expiresAtMs }) };
        });
        served.set(pool.name, leases);
        const known = new Set(before?.map(({ macAddress, address }) => `${macAddress} ${address}`));
        return before === undefined ? [] : leases.filter(({ macAddress, address }) => !known.has(`${macAddress} ${address}`));
      },
      removePool: (name) => void served.delete(name),
      leases: (name = '') => served.get(name) ?? [],
    },
    book: {
      decline: async ({ poolName, macAddress, address }) => {
        log.push(`decline ${poolName} ${macAddress} ${address & 255}`);
        if (savesFail) throw new Error('disk full');
      },
      restoredExpiry: (_, macAddress) => (bound.has(macAddress) ? 9_000 : undefined),
      quarantines: function* () {
        yield { pool: 'net', address: 1, untilMs: 5_000 };
        yield { pool: 'net', address: 2, untilMs: 1_000 };
      },
    },
    conflicts: new ConflictedLeases(),
    probes: {
      noteFresh: (interfaceName, leases) =>
        void log.push(`probe ${interfaceName} ${leases.map(({ macAddress }) => macAddress.slice(-1))}`),
    },
    open: {
      setPool: ({ assignments }) => assignments.filter(({ address }) => !usedByUnknown.has(address)),
      leases: function* () {},
      quarantines: function* () {
        yield { pool: 'other', address: 3, untilMs: 1_001 };
      },
      poolsThatWaitNoMore: () => waitNoMore.splice(0),
    },
    mayProbe,
    interfacesOf: new Map([
      ['net', ['eth1', 'eth2']],
      ['other', ['eth3']],
    ]),
    onSaveFailure: (error) => log.push(String(error)),
  });
  const clients = (name: string) =>
    served
      .get(name)
      ?.map(({ macAddress }) => macAddress.slice(-1))
      .join('');
  return { made, log, clock, clients, usedByUnknown, waitNoMore };
}

describe('planned pools', () => {
  it('are the only ones served: a pool that is gone is removed and the others stay', () => {
    const { made, clients } = pools();
    made.replace(
      new Map([
        ['net', plan('net', [A])],
        ['other', plan('other', [B])],
      ]),
    );
    expect([clients('net'), clients('other')]).toEqual(['a', 'b']);
    made.replace(new Map([['other', plan('other', [B])]]));
    expect([clients('net'), clients('other')]).toEqual([undefined, 'b']);
    expect([...made.all.keys()]).toEqual(['other']);
  });

  it('let a declared client wait while an unknown client uses its address', () => {
    const { made, clients, usedByUnknown, waitNoMore } = pools();
    usedByUnknown.add(ADDRESS_B);
    made.replace(new Map([['net', plan('net', [A, B])]]));
    expect(clients('net')).toBe('a');
    usedByUnknown.clear();
    made.endConflicts();
    expect(clients('net')).toBe('a');
    waitNoMore.push('net');
    made.endConflicts();
    expect(clients('net')).toBe('ab');
  });

  it('probe addresses without a known user at first; later, only new ones', () => {
    const { made, log } = pools({ bound: new Set([VM_A]) });
    made.replace(new Map([['net', plan('net', [A, B])]]));
    expect(log).toEqual(['probe eth1 b']);
    made.replace(new Map([['net', plan('net', [A, B])]]));
    expect(log).toHaveLength(1);
    made.replace(new Map([['net', plan('net', [A, { macAddress: VM_B, address: ADDRESS_B + 1 }])]]));
    expect(log.slice(1)).toEqual(['probe eth1 b']);
  });

  it.each([
    ['where the pool leaves it out', { probes: false }, {}],
    ['without CAP_NET_RAW', {}, { mayProbe: false }],
  ])('probe nothing %s', (_, ofPool, settings) => {
    const { made, log, clients } = pools(settings);
    made.replace(new Map([['net', plan('net', [A, B], ofPool)]]));
    expect(log).toEqual([]);
    expect(clients('net')).toBe('ab');
  });

  it('probe nothing of a pool without an interface', () => {
    const { made, log } = pools();
    made.replace(new Map([['far', plan('far', [A])]]));
    expect(log).toEqual([]);
  });

  it('list quarantined addresses, of declared and of unknown clients, until their time is over', () => {
    const { made, clock } = pools();
    expect([...made.quarantines()].map(({ address }) => address)).toEqual([1, 3]);
    clock.nowMs = 1_001;
    expect([...made.quarantines()].map(({ address }) => address)).toEqual([1]);
  });

  it('list counts, refused claims and leases with owners', () => {
    const { made } = pools({ bound: new Set([VM_B]) });
    const refused = [{ owner: 'vm-9', macAddress: VM_A, reason: 'pool-full', message: 'full' }] as never;
    made.replace(new Map([['net', { ...plan('net', [A, B]), refused }]]));
    expect(made.counts.get('net')).toMatchObject({ used: 2 });
    expect(made.refusedClaims).toEqual(new Map([['net', 1]]));
    expect([...made.leases()].map(({ address, owner, state }) => `${address} ${owner} ${state}`)).toEqual([
      '10.0.0.10 vm-0 assigned',
      '10.0.0.11 vm-1 bound',
    ]);
  });

  it('list leases with their IPv6 addresses', () => {
    const { made } = pools();
    const planned = plan('net', [A]);
    const dhcpv6 = { prefix: { network: 0xfd00n << 112n, prefixLength: 64 } } as never;
    const configured = { ...planned.configured, pool: { ...planned.configured.pool, dhcpv6 } };
    made.replace(new Map([['net', { ...planned, configured }]]));
    expect([...made.leases()]).toMatchObject([{ address: '10.0.0.10', ipv6Address: 'fd00::a' }]);
  });
});

describe('an address that another host uses', () => {
  const conflict = { macAddress: VM_A, address: ADDRESS_A, usedBy: '02:00:00:00:00:99' };

  it('is declined, and its client gets no reply until the book has another address for it', () => {
    const { made, log, clients } = pools();
    made.replace(new Map([['net', plan('net', [A, B])]]));
    log.length = 0;
    made.onConflict('net', conflict);
    expect(clients('net')).toBe('b');
    expect(log).toEqual([`decline net ${VM_A} 10`]);
    made.replace(new Map([['net', plan('net', [{ macAddress: VM_A, address: ADDRESS_A + 5 }, B])]]));
    expect(clients('net')).toBe('ab');
  });

  it('is not served for an hour if no other one can be saved; the failure is reported', async () => {
    const { made, log, clock, clients } = pools({ savesFail: true });
    made.replace(
      new Map([
        ['net', plan('net', [A])],
        ['other', plan('other', [A])],
      ]),
    );
    made.onConflict('net', conflict);
    await Promise.resolve();
    expect(log.at(-1)).toBe('Error: disk full');
    clock.nowMs += QUARANTINE_MS - 1;
    made.endConflicts();
    expect([clients('net'), clients('other')]).toEqual(['', 'a']);
    clock.nowMs += 1;
    made.endConflicts();
    expect(clients('net')).toBe('a');
  });

  it('is served again at once, and probed, if an administrator ends its quarantine', () => {
    const { made, log, clients } = pools();
    made.replace(
      new Map([
        ['net', plan('net', [A, B])],
        ['other', plan('other', [A])],
      ]),
    );
    made.onConflict('net', conflict);
    // No other address is free, so the next plan has this one again.
    made.replace(new Map([['net', plan('net', [A, B])]]));
    expect(clients('net')).toBe('b');
    log.length = 0;
    made.endConflict(ADDRESS_B);
    expect(clients('net')).toBe('b');
    made.endConflict(ADDRESS_A);
    expect([clients('net'), log]).toEqual(['ab', ['probe eth1 a']]);
  });

  it.each([0, 3_600_000])(
    'has no substitute if it is reserved: it is not served for a minute, then probed again; the clock goes back by %i ms',
    (setBackMs) => {
      const { made, log, clock, clients } = pools();
      made.replace(new Map([['net', plan('net', [A, B], { reserves: true })]]));
      log.length = 0;
      made.onConflict('net', conflict);
      expect(log).toEqual([expect.stringMatching(/^warn the address is reserved, /)]);
      expect(clients('net')).toBe('b');
      clock.setBackMs = setBackMs;
      clock.nowMs += 59_999;
      made.endConflicts();
      expect(clients('net')).toBe('b');
      clock.nowMs += 1;
      made.endConflicts();
      expect(clients('net')).toBe('ab');
      expect(log.at(-1)).toBe('probe eth1 a');
    },
  );

  it('changes nothing if its pool is gone', () => {
    const { made, log } = pools();
    made.onConflict('net', conflict);
    made.endConflicts();
    expect(log).toEqual([]);
  });
});
