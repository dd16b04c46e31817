import { type MacAddress, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { PersistentMap } from '../pool/persistent-map.js';
import { readPool } from '../pool/read-pool.js';
import { readRecordedAddresses } from '../pool/recorded-addresses.js';
import type { LastOwners } from './assignment-plan.js';
import { type PoolPlan, planPools } from './plan-pools.js';
import type { MachineWithoutClaim, PoolToPlan } from './pool-to-plan.js';
import { findSettledClaims, joinSettledClaims, SettledBook } from './settled-claims.js';

const ip = (last: number) => parseIpv4Address(`10.0.0.${last}`) as number;
const mac = (number: number): MacAddress => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;
const NETWORKS = ['n1', 'n2'] as const;

interface PoolFacts {
  readonly allocated: Readonly<Record<string, string>>;
  readonly reservations?: readonly (readonly [number, number])[];
  readonly exclude?: readonly number[];
  readonly quarantined?: readonly number[];
  readonly reserved?: readonly number[];
  readonly lastOwners?: readonly (readonly [number, number, number])[];
  readonly paused?: boolean;
}

function poolOf(network: string, facts: PoolFacts): PoolToPlan {
  const { allocated, reservations = [], exclude = [], quarantined = [], reserved = [], lastOwners = [], paused = false } = facts;
  const reading = readPool({
    metadata: { namespace: 'default', name: network },
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    spec: {
      networkName: network,
      ipv4Config: {
        cidr: '10.0.0.0/28',
        serverIP: '10.0.0.1',
        pool: { start: '10.0.0.3', end: '10.0.0.12', exclude: exclude.map((last) => `10.0.0.${last}`) },
        reservations: reservations.map(([number, last]) => ({ macAddress: mac(number), ipAddress: `10.0.0.${last}` })),
      },
    },
  });
  if (!reading.ok) throw new Error(reading.problems.join());
  return {
    key: network,
    network,
    pool: reading.pool,
    recorded: readRecordedAddresses({ metadata: { name: network }, status: { ipv4: { allocated } } }),
    quarantines: quarantined.map((last) => ({ address: ip(last), untilMs: 10 * last })),
    nowMs: 50,
    paused,
    reserved: new Map<MacAddress, MachineWithoutClaim>(
      reserved.map((number) => [mac(number), { owner: `vm-${number % 5}`, createdAt: '0' }]),
    ),
    lastOwners: new Map<MacAddress, NonNullable<ReturnType<LastOwners['get']>>>(
      lastOwners.map(([number, owner, last]) => [mac(number), { owner: `vm-${owner}`, address: ip(last) }]),
    ),
  };
}

const plan = (pools: readonly PoolToPlan[], configs: readonly NetworkConfigClaims[], isWhole = false) =>
  planPools({
    pools,
    claims: isWhole ? { pools: new Map(), open: configs } : findSettledClaims(pools, configs),
    whyUnserved: () => undefined,
  });

const sorted = <Value>(entries: Iterable<readonly [string, Value]>) => [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

/** A plan with unordered parts sorted. */
function content(plan: PoolPlan | undefined): unknown {
  if (plan === undefined) return undefined;
  const { assignments, owners, addressOf, refusals, quarantines, counts } = plan;
  return {
    assignments: sorted(assignments.map((one) => [one.macAddress, one])),
    owners: sorted(owners),
    addressOf: sorted(addressOf),
    refusals: sorted([...refusals].map(([key, ofOwner]) => [key, sorted(ofOwner)])),
    quarantines,
    counts,
  };
}

function config(number: number, claims: readonly InterfaceClaim[]): NetworkConfigClaims {
  return { key: `vm-${number}`, createdAt: String(number % 3), claims, unreadable: [] };
}

const number = fc.nat(24);
const last = fc.integer({ min: 0, max: 15 });
const some = <Value>(value: fc.Arbitrary<Value>, maxLength = 2) => fc.array(value, { maxLength });
const facts: fc.Arbitrary<PoolFacts> = fc.record({
  allocated: fc
    .uniqueArray(fc.tuple(last, fc.oneof({ weight: 8, arbitrary: number.map(mac) }, fc.constant('nonsense'))), {
      selector: ([address]) => address,
      maxLength: 8,
    })
    .map((entries) => Object.fromEntries(entries.map(([address, client]) => [`10.0.0.${address}`, client]))),
  reservations: fc.uniqueArray(fc.tuple(number, fc.integer({ min: 3, max: 6 })), {
    comparator: (one, other) => one[0] === other[0] || one[1] === other[1],
    maxLength: 1,
  }),
  exclude: fc.uniqueArray(fc.integer({ min: 8, max: 12 }), { maxLength: 2 }),
  quarantined: fc.uniqueArray(fc.integer({ min: 3, max: 12 }), { maxLength: 2 }),
  reserved: some(number),
  lastOwners: some(fc.tuple(number, fc.nat(4), last), 4),
  paused: fc.boolean(),
});
const claimed: fc.Arbitrary<InterfaceClaim> = fc
  .record({
    network: fc.constantFrom(...NETWORKS, 'n3'),
    macAddress: number.map(mac),
    wanted: fc.option(last.map(ip), { nil: undefined, freq: 4 }),
    previous: fc.option(last.map(ip), { nil: undefined }),
    holdsPrevious: fc.boolean(),
    replaces: fc.option(some(number.map(mac)), { nil: undefined, freq: 6 }),
  })
  .map(({ network, macAddress, wanted, previous, holdsPrevious, replaces }) => ({
    network,
    macAddress,
    ...(wanted !== undefined && { wanted }),
    ...(previous !== undefined && { previous }),
    ...(previous !== undefined && holdsPrevious && { holdsPrevious: true as const }),
    ...(replaces !== undefined && { replaces }),
  }));
const configs = fc
  .array(fc.array(claimed, { minLength: 1, maxLength: 2 }), { maxLength: 8 })
  .map((all) => all.map((claims, index) => config(index, claims)));

describe('findSettledClaims', () => {
  const claim = (number: number, more: Partial<InterfaceClaim> = {}) => ({ network: 'n1', macAddress: mac(number), ...more });

  it('satisfied claims are settled; the rest of the record is planned', () => {
    const pool = poolOf('n1', { allocated: { '10.0.0.3': mac(1), '10.0.0.4': mac(2), '10.0.0.5': mac(9) } });
    const configs = [config(1, [claim(1)]), config(2, [claim(2, { wanted: ip(4) })]), config(3, [claim(3)])];
    const { pools, open } = findSettledClaims([pool], configs);
    expect(open.map(({ key }) => key)).toEqual(['vm-3']);
    expect(sorted(pools.get('n1')?.settled.addressOf ?? [])).toEqual([
      [mac(1), ip(3)],
      [mac(2), ip(4)],
    ]);
    expect(pools.get('n1')?.unsettled.map(({ macAddress }) => macAddress)).toEqual([mac(9)]);
    expect(sorted(pools.get('n1')?.settled.owners ?? [])).toEqual([
      [mac(1), 'vm-1'],
      [mac(2), 'vm-2'],
    ]);
  });

  it.each<readonly [string, Partial<PoolFacts>, readonly NetworkConfigClaims[]]>([
    ['another address is wanted', {}, [config(1, [claim(1, { wanted: ip(7) })])]],
    ['two claim one MAC address', {}, [config(1, [claim(1)]), config(2, [claim(1)])]],
    ['an interface had the MAC address before', {}, [config(1, [claim(1)]), config(2, [claim(2, { replaces: [mac(1)] })])]],
    ['a sibling has no address', {}, [config(1, [claim(1), claim(4)])]],
    ['it has a reservation', { reservations: [[1, 3]] }, [config(1, [claim(1)])]],
    ['its address is reserved for another client', { reservations: [[7, 3]] }, [config(1, [claim(1)])]],
    ['its address is in quarantine', { quarantined: [3] }, [config(1, [claim(1)])]],
    ['a virtual machine without config has the MAC address', { reserved: [1] }, [config(1, [claim(1)])]],
    ['the address is the server’s', { allocated: { '10.0.0.1': mac(1) } }, [config(1, [claim(1)])]],
  ])('it is planned: %s', (_, facts, configs) => {
    const { pools, open } = findSettledClaims([poolOf('n1', { allocated: { '10.0.0.3': mac(1) }, ...facts })], configs);
    expect(open).toEqual(configs);
    expect(pools.get('n1')?.settled.addressOf.size).toBe(0);
  });

  it('law: the plans equal those of all claims', () => {
    let settled = 0;
    fc.assert(
      fc.property(facts, facts, configs, fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), (one, other, some, isKept) => {
        const pools = [poolOf('n1', one), poolOf('n2', other)];
        // Most of what is recorded is claimed, as in a cluster.
        const clients = Object.values(one.allocated).filter((client, index) => client !== 'nonsense' && isKept[index]);
        const kept = clients.map((macAddress, index) => config(100 + index, [{ network: 'n1', macAddress }]));
        const claims = [...some, ...kept];
        const [parts, whole] = [plan(pools, claims), plan(pools, claims, true)];
        for (const network of NETWORKS) expect(content(parts.get(network))).toEqual(content(whole.get(network)));
        settled += findSettledClaims(pools, claims).pools.get('n1')?.settled.addressOf.size ?? 0;
      }),
      { numRuns: 1_000 },
    );
    // Otherwise the law would not test settled claims.
    expect(settled).toBeGreaterThan(500);
  });

  it('a client is planned while a virtual machine without config has its MAC address, and settled before and after that', () => {
    const book = new SettledBook();
    const claims = PersistentMap.of([['vm-1', config(1, [claim(1)])]]);
    const facts = { allocated: { '10.0.0.3': mac(1) } };
    const { pool } = poolOf('n1', facts);
    const settled = [[], [1], []].map((reserved) => {
      book.update({ ...poolOf('n1', { ...facts, reserved }), pool }, claims);
      return [...joinSettledClaims([book]).open.map(({ key }) => key)];
    });
    expect(settled).toEqual([[], ['vm-1'], []]);
  });

  it('law: a book that follows pools and claims has what a new one has', () => {
    const step = fc.record({
      one: facts,
      other: facts,
      some: configs,
      kept: fc.subarray(Array.from({ length: 12 }, (_, index) => index)),
      isOther: fc.boolean(),
      isSameRecord: fc.boolean(),
    });
    let [settled, shared] = [0, 0];
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 5 }), (steps) => {
        const books = [new SettledBook(), new SettledBook()] as const;
        let [pools, claims]: [readonly PoolToPlan[], Map<string, NetworkConfigClaims>] = [[], new Map()];
        const onNetwork = NETWORKS.map(() => PersistentMap.of<string, NetworkConfigClaims>());
        for (const { one, other, some, kept, isOther, isSameRecord } of steps) {
          // Mostly the pool stays, and its record or only something else changes.
          const before = pools;
          pools = [poolOf('n1', one), poolOf('n2', other)].map((made, index) => ({
            ...made,
            ...(!isOther && before[index] !== undefined && { pool: before[index].pool }),
            ...(isSameRecord && before[index] !== undefined && { recorded: before[index].recorded }),
          }));
          if (pools[0]?.pool === before[0]?.pool) shared++;
          // Some configs stay as they are, others change or go.
          const stay = [...claims].filter((_, index) => kept.includes(index));
          const clients = [...(pools[0]?.recorded.addressOf.keys() ?? [])].filter((_, index) => kept.includes(index));
          const ofClients = clients.map((macAddress) =>
            config(100 + Number.parseInt(macAddress.slice(-2), 16), [{ network: 'n1', macAddress }]),
          );
          claims = new Map([...[...some, ...ofClients].map((made) => [made.key, made] as const), ...stay]);
          for (const [index, network] of NETWORKS.entries()) {
            const now = [...claims].filter(([, { claims: all }]) => all.some((claim) => claim.network === network));
            const gone = [...(onNetwork[index]?.keys() ?? [])].map((key) => [key, undefined] as const);
            onNetwork[index] = onNetwork[index]?.with([...gone, ...now]) ?? PersistentMap.of();
            books[index]?.update(pools[index] as PoolToPlan, onNetwork[index]);
          }
          const [followed, anew] = [joinSettledClaims(books), findSettledClaims(pools, [...claims.values()])];
          expect(found(followed)).toEqual(found(anew));
          settled += followed.pools.get('n1')?.settled.addressOf.size ?? 0;
        }
      }),
      { numRuns: 500 },
    );
    expect([settled > 300, shared > 300]).toEqual([true, true]);
  });
});

/** The content, with unordered parts sorted. */
function found({ pools, open }: ReturnType<typeof findSettledClaims>): unknown {
  const parts = [...pools].map(([key, { settled, unsettled }]) => [
    key,
    sorted(settled.addressOf),
    sorted(settled.owners),
    sorted(unsettled.map(({ macAddress, address }) => [macAddress, address])),
  ]);
  return { parts, open: sorted(open.map((one) => [one.key, one])) };
}
