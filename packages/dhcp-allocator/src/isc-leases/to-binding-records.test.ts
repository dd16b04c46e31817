import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import type { BindingRecord } from '../binding/binding.js';
import { BindingTable } from '../binding/binding-table.js';
import { type IscLeaseEntry, type IscLeaseOutcome, parseIscLeases, toBindingRecords, toIscLeases } from './index.js';
import { anyIscLeases, DHCPD_FILE } from './isc-lease-fixtures.js';

const NOW = Date.UTC(2026, 10, 23, 16, 35);
const HOUR = 3_600_000;
const MAC = '02:00:00:00:00:01';
const SETTINGS = { poolNameOf: () => 'net', nowMs: NOW };
const lease = (last: number, more: Partial<IscLeaseEntry>): IscLeaseEntry => ({
  ...{ address: (parseIpv4Address('10.0.0.0') as number) + last, state: 'active', line: last, ...more },
});
const recordsOf = (leases: readonly IscLeaseEntry[]) =>
  toBindingRecords({ leases, unreadable: [] }, SETTINGS).flatMap(({ record }) => (record === undefined ? [] : [record]));

describe('an address whose last entry cannot be read', () => {
  const address = lease(9, {}).address;
  const outcomeOf = (endsAtMs: number | undefined, longestMs: number) =>
    toBindingRecords(
      {
        leases: [lease(8, { endsAtMs: longestMs, macAddress: MAC })],
        unreadable: [{ address, line: 5, ...(endsAtMs !== undefined && { endsAtMs }) }],
      },
      SETTINGS,
    ).find((each) => each.lease.address === address);

  it.each<[what: string, endsAtMs: number | undefined, longestMs: number, untilMs: number]>([
    ['until the end that it has', NOW + HOUR, NOW + 48 * HOUR, NOW + HOUR],
    ['forever, if it has no end', Number.POSITIVE_INFINITY, NOW, Number.POSITIVE_INFINITY],
    ['as long as the longest lease of the file, if its end is not known', undefined, NOW + 48 * HOUR, NOW + 48 * HOUR],
    ['a day, if nothing is known', undefined, NOW - HOUR, NOW + 24 * HOUR],
  ])('is not leased to any client: %s', (_, endsAtMs, longestMs, untilMs) => {
    expect(outcomeOf(endsAtMs, longestMs)).toMatchObject({
      outcome: 'quarantined-unreadable',
      record: { kind: 'quarantine', address, untilMs },
    });
  });

  it('is free after its end', () => {
    expect(outcomeOf(NOW, NOW + HOUR)).toEqual({ lease: { address, line: 5 }, outcome: 'nothing-to-keep' });
  });

  it('is left out if no pool has it', () => {
    const file = { leases: [], unreadable: [{ address, line: 5 }] };
    expect(toBindingRecords(file, { ...SETTINGS, poolNameOf: () => undefined })).toMatchObject([{ outcome: 'no-pool' }]);
  });
});

describe('each lease has one outcome', () => {
  const bound = { startsAtMs: NOW - HOUR, clientLastSeenAtMs: NOW - 60_000, macAddress: MAC };
  it.each<[string, Partial<IscLeaseEntry>, IscLeaseOutcome, object | undefined]>([
    [
      'active, of a client with an identifier and a host name',
      { ...bound, endsAtMs: NOW + HOUR, uid: 'ff0001', hostname: 'node-1' },
      'leased',
      {
        macAddress: MAC,
        hostname: 'node-1',
        boundAtMs: NOW - HOUR,
        grantedAtMs: NOW - 60_000,
        endsAtMs: NOW + HOUR,
      },
    ],
    [
      'active forever',
      { ...bound, endsAtMs: Number.POSITIVE_INFINITY },
      'leased',
      { macAddress: MAC, endsAtMs: Number.POSITIVE_INFINITY },
    ],
    ['active, an invalid host name is left out', { ...bound, endsAtMs: NOW + HOUR, hostname: 'a b' }, 'leased', {}],
    ['active, and the time is over', { ...bound, endsAtMs: NOW }, 'previous-address', { endsAtMs: NOW }],
    ['active, without an end', bound, 'previous-address', { endsAtMs: NOW - HOUR }],
    [
      'expired',
      { ...bound, state: 'expired', endsAtMs: NOW - HOUR },
      'previous-address',
      { endsAtMs: NOW - HOUR, isReleased: false },
    ],
    ['released', { ...bound, state: 'released', endsAtMs: NOW - HOUR }, 'previous-address', { isReleased: true }],
    [
      'free with a client, whatever its end',
      { ...bound, state: 'free', endsAtMs: NOW + HOUR },
      'previous-address',
      { endsAtMs: NOW },
    ],
    ['backup with a client', { ...bound, state: 'backup', endsAtMs: NOW - HOUR }, 'previous-address', { endsAtMs: NOW - HOUR }],
    ['reset with a client', { ...bound, state: 'reset', endsAtMs: NOW - HOUR }, 'previous-address', {}],
    ['free, next state active', { ...bound, state: 'free', nextState: 'active', endsAtMs: NOW - HOUR }, 'previous-address', {}],
    ['free without a client', { state: 'free' }, 'nothing-to-keep', undefined],
    ['backup without a client', { state: 'backup', endsAtMs: NOW + HOUR }, 'nothing-to-keep', undefined],
    [
      'abandoned',
      { state: 'abandoned', endsAtMs: NOW + HOUR },
      'quarantined-abandoned',
      { kind: 'quarantine', untilMs: NOW + HOUR },
    ],
    [
      'abandoned forever: a day',
      { state: 'abandoned', endsAtMs: Number.POSITIVE_INFINITY },
      'quarantined-abandoned',
      { untilMs: NOW + 24 * HOUR },
    ],
    ['abandoned, without an end: a day', { state: 'abandoned' }, 'quarantined-abandoned', { untilMs: NOW + 24 * HOUR }],
    ['abandoned, and the time is over', { state: 'abandoned', endsAtMs: NOW - 1 }, 'nothing-to-keep', undefined],
    [
      'active, without an Ethernet address',
      { uid: 'ff0001', endsAtMs: NOW + HOUR },
      'quarantined-no-ethernet-address',
      { untilMs: NOW + HOUR },
    ],
    ['active, without an Ethernet address, over', { uid: 'ff0001', endsAtMs: NOW - 1 }, 'nothing-to-keep', undefined],
  ])('%s', (_title, more, outcome, record) => {
    const [imported] = toBindingRecords({ leases: [lease(9, more)], unreadable: [] }, SETTINGS);
    expect(imported?.outcome).toBe(outcome);
    if (record === undefined) expect(imported).not.toHaveProperty('record');
    else expect(imported?.record).toMatchObject(record);
    if (more.hostname === 'a b') expect(imported?.record).not.toHaveProperty('hostname');
  });

  it('an address that no pool has is reported', () => {
    const imported = toBindingRecords(
      { leases: [lease(9, { endsAtMs: NOW + HOUR, macAddress: MAC })], unreadable: [] },
      {
        ...SETTINGS,
        poolNameOf: () => undefined,
      },
    );
    expect(imported).toMatchObject([{ outcome: 'no-pool', lease: { line: 9 } }]);
  });
});

describe('a client with several leases has the one that is active, else the one it used last', () => {
  const of = (last: number, more: Partial<IscLeaseEntry>) => lease(last, { macAddress: MAC, startsAtMs: NOW - HOUR, ...more });
  it.each([
    [
      'active before ended',
      of(1, { endsAtMs: NOW + HOUR }),
      of(2, { state: 'free', clientLastSeenAtMs: NOW }),
      'client-has-later-lease',
    ],
    [
      'two ended',
      of(1, { state: 'free', clientLastSeenAtMs: NOW - 1 }),
      of(2, { state: 'free', clientLastSeenAtMs: NOW - 2 }),
      'client-has-later-lease',
    ],
    [
      'two active leases: no other client gets the second address',
      of(1, { endsAtMs: NOW + 1, clientLastSeenAtMs: NOW }),
      of(2, { endsAtMs: NOW + HOUR }),
      'quarantined-second-address',
    ],
  ])('%s', (_title, kept, other, outcome) => {
    for (const leases of [
      [kept, other],
      [other, kept],
    ]) {
      const imported = toBindingRecords({ leases, unreadable: [] }, SETTINGS);
      expect(imported.find((each) => each.lease === other)?.outcome).toBe(outcome);
      const table = new BindingTable('net');
      for (const record of recordsOf(leases)) table.apply(record);
      expect([...table.bindings()].map(({ address }) => address)).toEqual([kept.address]);
    }
  });

  it('clients of two pools are two clients', () => {
    const leases = [of(1, { endsAtMs: NOW + HOUR }), of(2, { endsAtMs: NOW + HOUR })];
    const imported = toBindingRecords({ leases, unreadable: [] }, { nowMs: NOW, poolNameOf: formatIpv4Address });
    expect(imported.map(({ outcome }) => outcome)).toEqual(['leased', 'leased']);
  });
});

describe('laws', () => {
  it('law: each lease has one outcome, and no record is lost when all are applied', () => {
    fc.assert(
      fc.property(anyIscLeases, (leases) => {
        const entries = leases.map((each, index) => ({ ...each, line: index + 1 }));
        const imported = toBindingRecords({ leases: entries, unreadable: [] }, SETTINGS);
        expect(imported.map((each) => each.lease.line).toSorted((a, b) => a - b)).toEqual(entries.map(({ line }) => line));
        const records = recordsOf(entries);
        const table = new BindingTable('net');
        for (const record of records) table.apply(record);
        expect(table.size + table.quarantines().size).toBe(records.length);
        // An address that dhcpd has leased is never free.
        const inUse = new Set(
          records
            .filter((record) => (record.kind === 'binding' ? record.endsAtMs : record.untilMs) > NOW)
            .map(({ address }) => address),
        );
        for (const { address, state, endsAtMs = 0 } of leases)
          expect(inUse.has(address) || state !== 'active' || endsAtMs <= NOW).toBe(true);
      }),
    );
  });

  it('law: export and import keep everything except RELEASEs, and a quarantine lasts a day at most', () => {
    const withoutRelease = (record: BindingRecord) =>
      record.kind === 'binding'
        ? { ...record, isReleased: false }
        : { ...record, untilMs: Math.min(record.untilMs, NOW + 24 * HOUR) };
    const sorted = (records: readonly BindingRecord[]) => records.map(withoutRelease).toSorted((a, b) => a.address - b.address);
    fc.assert(
      fc.property(anyIscLeases, (leases) => {
        const records = recordsOf(leases.map((each) => ({ ...each, line: 1 })));
        const exported = toIscLeases(records, NOW).map((each) => ({ ...each, line: 1 }));
        expect(sorted(recordsOf(exported))).toEqual(sorted(records));
      }),
    );
  });

  it('a file of dhcpd: two clients and an abandoned address', () => {
    expect(toBindingRecords(parseIscLeases(DHCPD_FILE), SETTINGS).map((each) => [each.lease.line, each.outcome])).toEqual([
      [31, 'previous-address'],
      [16, 'leased'],
      [41, 'quarantined-abandoned'],
    ]);
  });
});
