import { formatIpv4Address, type MacAddress, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMapChanges } from '../model/address-map.js';
import type { PageLease, PoolChange } from '../model/page-data.js';
import { diffPools, MOST_CHANGES } from './diff-pools.js';
import { holdersOf, toLease } from './pool-leases.js';
import { ipPool, mac, type PoolText } from './pool-object-fixtures.js';
import { VersionedPools } from './versioned-pools.js';

const noNames = () => '';

/** Consecutive versions of one pool. */
function follow(...objects: readonly KubernetesObject[]) {
  let current: KubernetesObject | undefined;
  const pools = new VersionedPools({ get: () => current, values: () => (current ? [current] : []) }, 'one');
  return objects.map((object) => {
    current = object;
    const found = pools.get('default/net');
    if (found === undefined) throw new Error('no pool');
    return found;
  });
}

function change(before: PoolText, after: PoolText): PoolChange {
  const [one, other] = follow(ipPool(before), ipPool(after));
  if (one === undefined || other === undefined) throw new Error('no versions');
  return diffPools(one, other, noNames);
}

describe('changes of a pool', () => {
  it('one more lease in 40,000 changes one address and one lease', () => {
    const first = parseIpv4Address('10.1.0.10') ?? 0;
    const entries = Array.from({ length: 40_000 }, (_, index) => [formatIpv4Address(first + index), mac(index)] as const);
    const config = { cidr: '10.1.0.0/16', serverIP: '10.1.0.2', router: '10.1.0.1' };
    const range = { start: '10.1.0.10', end: '10.1.255.254' };
    const found = change(
      { config, range, allocated: Object.fromEntries(entries.slice(1)) },
      { config, range, allocated: Object.fromEntries(entries) },
    );
    expect(found).toMatchObject({ kind: 'changes', since: 'one-1', version: 'one-2', map: [10, 1, 1], removed: [] });
    expect(found.kind === 'changes' && found.leases).toEqual([
      {
        ...{ pool: 'default/net', address: '10.1.0.10', ipv6Address: '', mac: mac(0), state: 'used' },
        ...{ machine: '', hostname: '', expiresAtMs: null },
      },
    ]);
    expect(JSON.stringify(found).length).toBeLessThan(1_000);
  });

  it.each<[string, PoolText, PoolText, Partial<PoolChange & { kind: 'changes' }>]>([
    ['a client that is gone', { allocated: { '10.0.0.4': mac(1) } }, {}, { map: [4, 0, 1], leases: [], removed: ['10.0.0.4'] }],
    [
      'an address that another client has now',
      { allocated: { '10.0.0.4': mac(1) } },
      { allocated: { '10.0.0.4': mac(2) } },
      { map: [], removed: [] },
    ],
    [
      'a client that has another address now',
      { allocated: { '10.0.0.4': mac(1) } },
      { allocated: { '10.0.0.5': mac(1) } },
      { map: [4, 0, 1, 5, 1, 1], removed: ['10.0.0.4'] },
    ],
    [
      'a quarantine',
      {},
      { quarantined: { '10.0.0.6': { until: '2026-01-01T00:00:00Z' } } },
      { map: [6, 4, 1], leases: [], removed: [] },
    ],
    ['a condition', {}, { conditions: [{ type: 'AgentReady', status: 'True' }] }, { map: [], leases: [], removed: [] }],
  ])('%s', (_, before, after, expected) => {
    expect(change(before, after)).toMatchObject({ kind: 'changes', ...expected });
  });

  it('a client with a reservation that leaves keeps the reservation', () => {
    const config = { reservations: [{ macAddress: mac(1), ipAddress: '10.0.0.4', hostname: 'web' }] };
    expect(change({ config, allocated: { '10.0.0.4': mac(1) } }, { config })).toMatchObject({
      map: [4, 2, 1],
      leases: [{ address: '10.0.0.4', state: 'reserved', hostname: 'web' }],
      removed: [],
    });
  });

  it.each<[string, PoolText, PoolText]>([
    ['another subnet', {}, { config: { cidr: '10.0.0.0/27' }, generation: 2 }],
    ['a pool that has become invalid', {}, { config: { cidr: 'what' }, generation: 2 }],
  ])('%s must be reloaded', (_, before, after) => {
    expect(change(before, after)).toEqual({ kind: 'reset', pool: 'default/net' });
  });

  it('too many changes cause a reload, too', () => {
    const first = parseIpv4Address('10.1.0.10') ?? 0;
    const config = { cidr: '10.1.0.0/16', serverIP: '10.1.0.2', router: '10.1.0.1' };
    const range = { start: '10.1.0.10', end: '10.1.255.254' };
    const of = (count: number) => ({
      config,
      range,
      allocated: Object.fromEntries(Array.from({ length: count }, (_, index) => [formatIpv4Address(first + index), mac(index)])),
    });
    expect(change({ config, range }, of(MOST_CHANGES)).kind).toBe('changes');
    expect(change({ config, range }, of(MOST_CHANGES + 1)).kind).toBe('reset');
  });

  it('each client has another IPv6 address with another prefix, so everything is loaded again', () => {
    const allocated = { '10.0.0.4': mac(1) };
    const one = { allocated, ipv6Config: { cidr: 'fd00:1::/64' } };
    expect(change(one, { ...one, ipv6Config: { cidr: 'fd00:2::/64' }, generation: 2 }).kind).toBe('reset');
    expect(change({ allocated }, { ...one, generation: 2 }).kind).toBe('reset');
    expect(change(one, { ...one, allocated: {} }).kind).toBe('changes');
  });

  it('a lease has the IPv6 address of its client, in a pool that has IPv6', () => {
    const allocated = { '10.0.0.4': mac(1) };
    const reservations = [{ macAddress: mac(2), ipAddress: '10.0.0.14' }];
    const ipv6 = (text: PoolText) => leasesOf(follow(ipPool(text))[0]).map(({ ipv6Address }) => ipv6Address);
    expect(ipv6({ allocated })).toEqual(['']);
    const ipv6Config = { cidr: '2001:db8:48::/64' };
    expect(ipv6({ allocated, ipv6Config, config: { reservations } })).toEqual(['2001:db8:48::4', '2001:db8:48::e']);
    const [version] = follow(ipPool({ allocated, ipv6Config }));
    if (version === undefined) throw new Error('no version');
    const unknown = { address: parseIpv4Address('10.0.0.5') ?? 0, macAddress: mac(3) as MacAddress, isUnknown: true } as const;
    expect(toLease(version.snapshot, unknown, noNames).ipv6Address, 'nobody declared it').toBe('');
  });

  const addresses = fc.integer({ min: 3, max: 14 }).map((last) => `10.0.0.${last}`);
  const version = fc.record({
    allocated: fc.dictionary(addresses, fc.oneof(fc.nat(6).map(mac), fc.constant('nonsense'))),
    quarantined: fc.dictionary(addresses, fc.constant({ until: '2026-01-01T00:00:00Z' })),
    config: fc.record({
      reservations: fc.constantFrom(
        [],
        [
          { macAddress: mac(1), ipAddress: '10.0.0.5' },
          { macAddress: mac(2), ipAddress: '10.0.0.14' },
        ],
      ),
    }),
  });

  it('law: changes applied to the old map and the old leases give the new ones', () => {
    fc.assert(
      fc.property(fc.array(version, { minLength: 2, maxLength: 5 }), (texts) => {
        const versions = follow(...texts.map((text, index) => ipPool({ ...text, generation: index })));
        let map = versions[0]?.snapshot.map?.runs ?? [];
        let leases = leasesOf(versions[0]);
        for (const [index, after] of versions.entries()) {
          const before = versions[index - 1];
          if (before === undefined) continue;
          const found = diffPools(before, after, noNames);
          if (found.kind === 'reset') throw new Error('reset');
          map = applyMapChanges(map, found.map);
          leases = leases.filter(({ address }) => !found.removed.includes(address));
          const changed = new Set(found.leases.map(({ address }) => address));
          leases = [...leases.filter(({ address }) => !changed.has(address)), ...found.leases];
          expect(map).toEqual(after.snapshot.map?.runs);
          expect(sorted(leases)).toEqual(sorted(leasesOf(after)));
        }
      }),
    );
  });
});

function leasesOf(version: ReturnType<typeof follow>[number] | undefined): readonly PageLease[] {
  if (version === undefined) return [];
  const { snapshot } = version;
  return [...holdersOf(snapshot.facts)].map((row) => toLease(snapshot, row, noNames));
}

function sorted(leases: readonly PageLease[]): readonly string[] {
  return leases.map((lease) => JSON.stringify(lease)).toSorted();
}
