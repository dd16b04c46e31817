import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { readPool } from '../pool/read-pool.js';
import { readRecordedAddresses } from '../pool/recorded-addresses.js';
import type { ClaimRefusal } from './address-request.js';
import { ownersOf } from './assignment-plan.js';
import { type PoolPlan, planPools } from './plan-pools.js';
import type { PoolToPlan } from './pool-to-plan.js';
import { findSettledClaims } from './settled-claims.js';

function poolOf(network: string, size: number, allocated: Readonly<Record<string, string>> = {}): PoolToPlan {
  const reading = readPool({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: network },
    spec: {
      networkName: network,
      ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.1', pool: { start: '10.0.0.10', end: `10.0.0.${9 + size}` } },
    },
  });
  if (!reading.ok) throw new Error(reading.problems.join());
  const recorded = readRecordedAddresses({ metadata: { name: network }, status: { ipv4: { allocated } } });
  return {
    key: network,
    network,
    pool: reading.pool,
    recorded,
    quarantines: [],
    nowMs: 0,
    paused: false,
    reserved: new Map(),
    lastOwners: new Map(),
  };
}

const macOf = (config: number, network: string) => `02:00:00:00:0${network.at(-1)}:${config.toString(16).padStart(2, '0')}`;

function config(number: number, networks: readonly string[], wanted?: string): NetworkConfigClaims {
  return {
    key: `default/vm-${number}`,
    createdAt: String(number).padStart(4, '0'),
    claims: networks.map((network) => ({
      network,
      macAddress: macOf(number, network),
      ...(wanted !== undefined && { wanted: parseIpv4Address(wanted) as number }),
    })),
    unreadable: [],
  };
}

const given = (plan: PoolPlan | undefined) =>
  Object.fromEntries((plan?.assignments ?? []).map(({ macAddress, address }) => [macAddress, formatIpv4Address(address)]));

const plan = (pools: readonly PoolToPlan[], configs: readonly NetworkConfigClaims[]) =>
  planPools({ pools, claims: findSettledClaims(pools, configs), whyUnserved: () => undefined });

describe('planPools', () => {
  it('a machine that is refused one address gets none, and leaves them to others', () => {
    const pools = [poolOf('n1', 1), poolOf('n2', 1, { '10.0.0.10': macOf(0, 'n2') })];
    const plans = plan(pools, [config(0, ['n2']), config(1, ['n1', 'n2']), config(2, ['n1'])]);
    expect(given(plans.get('n1'))).toEqual({ [macOf(2, 'n1')]: '10.0.0.10' });
    expect(plans.get('n1')?.refusals.get('default/vm-1')?.get(macOf(1, 'n1'))?.reason).toBe('other-interface-refused');
    expect(plans.get('n2')?.refusals.get('default/vm-1')?.get(macOf(1, 'n2'))?.reason).toBe('pool-exhausted');
  });

  it('an interface keeps its address, even if another one of the same machine is refused', () => {
    const pools = [poolOf('n1', 2, { '10.0.0.11': macOf(1, 'n1') }), poolOf('n2', 1, { '10.0.0.10': macOf(0, 'n2') })];
    const plans = plan(pools, [config(0, ['n2']), config(1, ['n1', 'n2'])]);
    expect(given(plans.get('n1'))).toEqual({ [macOf(1, 'n1')]: '10.0.0.11' });
  });

  it('a paused pool does not keep machines with its addresses from getting others elsewhere', () => {
    const paused = { ...poolOf('n1', 1, { '10.0.0.10': macOf(1, 'n1') }), paused: true };
    const plans = plan([paused, poolOf('n2', 2)], [config(1, ['n1', 'n2']), config(2, ['n1', 'n2'])]);
    expect(given(plans.get('n1'))).toEqual({ [macOf(1, 'n1')]: '10.0.0.10' });
    expect(given(plans.get('n2'))).toEqual({ [macOf(1, 'n2')]: '10.0.0.10' });
    expect(plans.get('n2')?.refusals.get('default/vm-2')?.get(macOf(2, 'n2'))?.reason).toBe('pool-paused');
  });

  it('a client that cannot have the address it wants keeps its own', () => {
    const pools = [poolOf('n1', 3, { '10.0.0.10': macOf(1, 'n1'), '10.0.0.11': macOf(2, 'n1') })];
    const plans = plan(pools, [config(1, ['n1'], '10.0.0.11'), config(2, ['n1'])]);
    expect(given(plans.get('n1'))).toEqual({ [macOf(1, 'n1')]: '10.0.0.10', [macOf(2, 'n1')]: '10.0.0.11' });
    expect(plans.get('n1')?.refusals.get('default/vm-1')?.get(macOf(1, 'n1'))?.reason).toBe('address-taken');
  });

  it('a reserved address stays recorded for its client, and its machine is not refused other addresses', () => {
    const mine = macOf(9, 'n1');
    const reserved = new Map([[mine, { owner: 'default/vm-9', createdAt: '0' }]]);
    const pool = { ...poolOf('n1', 2, { '10.0.0.10': mine }), reserved };
    const plans = plan([pool], [config(1, ['n1']), config(2, ['n1'])]);
    expect(given(plans.get('n1'))).toEqual({ [mine]: '10.0.0.10', [macOf(1, 'n1')]: '10.0.0.11' });
    expect(plans.get('n1')?.owners.get(mine)).toBe('default/vm-9');
    expect(given(plan([{ ...pool, reserved: new Map() }], [config(1, ['n1'])]).get('n1'))).toEqual({
      [macOf(1, 'n1')]: '10.0.0.10',
    });
    expect(ownersOf(plans.get('n1') as PoolPlan).get(mine)).toEqual({
      owner: 'default/vm-9',
      address: parseIpv4Address('10.0.0.10'),
    });
  });

  it('a reserved address is not assigned to another machine with the MAC address; its own machine is not refused other addresses', () => {
    const mine = macOf(1, 'n1');
    const pool = {
      ...poolOf('n1', 2, { '10.0.0.10': mine }),
      reserved: new Map([[mine, { owner: 'default/vm-9', createdAt: '9' }]]),
      lastOwners: new Map([[mine, { owner: 'default/vm-9', address: parseIpv4Address('10.0.0.10') as number }]]),
    };
    const [kept, copied] = [pool, { ...pool, lastOwners: new Map() }].map((one) => plan([one], [config(1, ['n1'])]).get('n1'));
    expect(kept?.owners.get(mine)).toBe('default/vm-9');
    expect(kept?.refusals.get('default/vm-1')?.get(mine)?.reason).toBe('mac-address-claimed-twice');
    expect([copied?.owners.get(mine), copied?.refused]).toEqual(['default/vm-1', []]);
  });

  it.each<[string, { pools: PoolToPlan[]; wanted?: string; problem?: ClaimRefusal }, Record<string, string>]>([
    ['is full', { pools: [poolOf('n1', 1, { '10.0.0.10': macOf(0, 'n1') })] }, { [macOf(0, 'n1')]: '10.0.0.10' }],
    ['is paused', { pools: [{ ...poolOf('n1', 2), paused: true }] }, {}],
    ['has a free address', { pools: [poolOf('n1', 2)] }, {}],
    ['has its address', { pools: [poolOf('n1', 2, { '10.0.0.11': macOf(1, 'n1') })] }, { [macOf(1, 'n1')]: '10.0.0.11' }],
    [
      'has not the address that it wants',
      { pools: [poolOf('n1', 2, { '10.0.0.11': macOf(1, 'n1') })], wanted: '10.0.0.10' },
      { [macOf(1, 'n1')]: '10.0.0.11' },
    ],
    ['is invalid', { pools: [], problem: { reason: 'pool-invalid', message: 'the pool is invalid' } }, {}],
  ])(
    'a machine that leaves a network whose pool %s keeps what it has there, gets nothing new there, and gets its other address',
    (_, { pools, wanted, problem }, there) => {
      const all = [...pools, poolOf('n2', 1)];
      const claims = config(1, ['n1', 'n2']).claims.map((claim) =>
        claim.network === 'n2'
          ? claim
          : { ...claim, isLeaving: true as const, ...(wanted !== undefined && { wanted: parseIpv4Address(wanted) as number }) },
      );
      const owners = pools.flatMap(({ recorded }) => recorded.assignments.map(({ macAddress }) => macAddress));
      const configs = [...(owners.includes(macOf(0, 'n1') as never) ? [config(0, ['n1'])] : []), { ...config(1, []), claims }];
      const plans = planPools({
        pools: all,
        claims: findSettledClaims(all, configs),
        whyUnserved: (network) => (network === 'n1' ? problem : undefined),
      });
      expect(given(plans.get('n1'))).toEqual(there);
      expect(given(plans.get('n2'))).toEqual({ [macOf(1, 'n2')]: '10.0.0.10' });
      expect(all.flatMap(({ key }) => plans.get(key)?.refused ?? [])).toEqual([]);
    },
  );

  describe('a machine that leaves a network and has no address there', () => {
    const leaving = (claim: Partial<NetworkConfigClaims['claims'][number]> = {}) => ({
      ...config(1, ['n2']),
      claims: [{ ...config(1, ['n1']).claims[0], ...claim, isLeaving: true }, ...config(1, ['n2']).claims],
    });
    const both = [poolOf('n1', 3), poolOf('n2', 1)];

    it('leaves its MAC address there to the machine that has it now', () => {
      const other = { ...config(2, []), claims: config(1, ['n1']).claims };
      const plans = plan(both, [leaving() as NetworkConfigClaims, other]);
      expect(plans.get('n1')?.owners.get(macOf(1, 'n1'))).toBe('default/vm-2');
      expect([given(plans.get('n1')), plans.get('n1')?.refused]).toEqual([{ [macOf(1, 'n1')]: '10.0.0.10' }, []]);
    });

    it.each<[string, Partial<InterfaceClaim>, Record<string, string>]>([
      ['has the address', { previous: 0x0a00000b, holdsPrevious: true }, { [macOf(1, 'n1')]: '10.0.0.11' }],
      ['has none yet', {}, { [macOf(1, 'n1')]: '10.0.0.10' }],
    ])('leaves its MAC address to a machine that %s, also if its own record names an address', (_, claim, expected) => {
      const other = { ...config(2, []), claims: config(1, ['n1']).claims.map((one) => ({ ...one, ...claim })) };
      const plans = plan(both, [leaving({ previous: 0x0a00000c }) as NetworkConfigClaims, other]);
      expect(plans.get('n1')?.owners.get(macOf(1, 'n1'))).toBe('default/vm-2');
      expect([given(plans.get('n1')), plans.get('n1')?.refused]).toEqual([expected, []]);
    });

    it.each([
      [
        'gets the one that it has by its own record',
        { previous: 0x0a00000c, holdsPrevious: true },
        { [macOf(1, 'n1')]: '10.0.0.12' },
      ],
      ['gets the one that it had, which its guest may still use', { previous: 0x0a00000c }, { [macOf(1, 'n1')]: '10.0.0.12' }],
      ['does not get the one that it wants', { wanted: 0x0a00000c }, {}],
    ])('%s', (_, claim, expected) => {
      const plans = plan(both, [leaving(claim as never) as NetworkConfigClaims]);
      expect([given(plans.get('n1')), given(plans.get('n2'))]).toEqual([expected, { [macOf(1, 'n2')]: '10.0.0.10' }]);
    });

    it('does not come before older machines because of an address that it wanted there', () => {
      const plans = plan(both, [config(0, ['n2']), leaving({ wanted: 0x0a00000c }) as NetworkConfigClaims]);
      expect(given(plans.get('n2'))).toEqual({ [macOf(0, 'n2')]: '10.0.0.10' });
    });
  });

  it('an address with an invalid record is not assigned', () => {
    const plans = plan([poolOf('n1', 2, { '10.0.0.10': 'nonsense' })], [config(1, ['n1']), config(2, ['n1'])]);
    expect(given(plans.get('n1'))).toEqual({ [macOf(1, 'n1')]: '10.0.0.11' });
  });

  it('an unreadable entry keeps the whole machine from new addresses, but it keeps its own', () => {
    const broken = { network: 'n2', macAddress: 'x', reason: 'mac-address-unreadable', message: 'no MAC address' } as const;
    const one = { ...config(1, ['n1']), unreadable: [broken] };
    expect(
      plan([poolOf('n1', 2)], [one])
        .get('n1')
        ?.refusals.get(one.key)
        ?.get(macOf(1, 'n1')),
    ).toEqual({
      reason: 'other-interface-refused',
      message: 'no interface of the virtual machine gets a new address before each of them can have one: no MAC address',
    });
    expect(given(plan([poolOf('n1', 2, { '10.0.0.11': macOf(1, 'n1') })], [one]).get('n1'))).toEqual({
      [macOf(1, 'n1')]: '10.0.0.11',
    });
  });

  it('so does a network whose pool cannot serve it, but not a network without a pool', () => {
    const both = config(1, ['n1', 'n2']);
    const why = { reason: 'pool-invalid', message: 'the pool is invalid' } as const;
    const pools = [poolOf('n1', 2)];
    const planned = (problem: typeof why | undefined) =>
      planPools({
        pools,
        claims: findSettledClaims(pools, [both]),
        whyUnserved: (network) => (network === 'n2' ? problem : undefined),
      }).get('n1');
    expect(planned(why)?.refusals.get(both.key)?.get(macOf(1, 'n1'))?.reason).toBe('other-interface-refused');
    expect(given(planned(undefined))).toEqual({ [macOf(1, 'n1')]: '10.0.0.10' });
  });

  it('a pool that is paused refuses another address to a client that has one', () => {
    const paused = { ...poolOf('n1', 2, { '10.0.0.10': macOf(1, 'n1') }), paused: true };
    const refused = plan([paused], [config(1, ['n1'], '10.0.0.11')]).get('n1');
    expect(given(refused)).toEqual({ [macOf(1, 'n1')]: '10.0.0.10' });
    expect(refused?.refusals.get('default/vm-1')?.get(macOf(1, 'n1'))?.reason).toBe('pool-paused');
    expect(plan([paused], [config(1, ['n1'], '10.0.0.10')]).get('n1')?.refusals.size).toBe(0);
  });

  it('laws: all or nothing, one owner for each address, independent of order, planning its result again changes nothing', () => {
    const networks = fc.subarray(['n1', 'n2', 'n3'], { minLength: 1 });
    const machines = fc.array(fc.tuple(networks, fc.option(fc.integer({ min: 10, max: 14 }), { nil: undefined })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(machines, fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)), (some, sizes) => {
        const configs = some.map(([on, wanted], index) =>
          config(index, on, wanted === undefined ? undefined : `10.0.0.${wanted}`),
        );
        const pools = sizes.map((size, index) => poolOf(`n${index + 1}`, size + 1));
        const plans = plan(pools, configs);
        for (const { assignments } of plans.values())
          expect(new Set(assignments.map(({ address }) => address)).size).toBe(assignments.length);
        for (const { claims } of configs) {
          const has = claims.filter(({ network, macAddress }) => Object.hasOwn(given(plans.get(network)), macAddress));
          expect([0, claims.length]).toContain(has.length);
        }
        const shuffled = plan(pools.toReversed(), configs.toReversed());
        for (const { key } of pools) expect(given(shuffled.get(key))).toEqual(given(plans.get(key)));
        const again = plan(
          sizes.map((size, index) => poolOf(`n${index + 1}`, size + 1, invert(given(plans.get(`n${index + 1}`))))),
          configs,
        );
        for (const { key } of pools) expect(given(again.get(key))).toMatchObject(given(plans.get(key)));
      }),
      { numRuns: 300 },
    );
  });
});

function invert(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([macAddress, address]) => [address, macAddress]));
}
