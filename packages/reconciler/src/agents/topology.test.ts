import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NetworkPlacement } from '../network/network-placement.js';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import {
  type AgentTopology,
  type GroupingSettings,
  groupOfDeployment,
  groupPools,
  type PoolToGroup,
  perPoolGroupName,
} from './topology.js';

const settings = (topology: AgentTopology, maxPoolsPerAgent = 24): GroupingSettings => ({ topology, maxPoolsPerAgent });
const pool = (key: string, clusterNetwork?: string): PoolToGroup => ({ key, placement: onClusterNetwork(clusterNetwork) });
const NOTHING = new Map<string, string[]>();

function named(pools: readonly PoolToGroup[], current: ReadonlyMap<string, readonly string[]>, how: GroupingSettings) {
  return Object.fromEntries([...groupPools(pools, current, how)].map(([name, { poolKeys }]) => [name, poolKeys.join(' ')]));
}

const POOLS = [pool('b/2', 'vlan'), pool('a/1', 'vlan'), pool('c/3', 'mgmt'), pool('d/4')];

describe('groupPools', () => {
  it.each<[AgentTopology, Record<string, string>]>([
    ['unified', { 'vm-dhcp-agents': 'a/1 b/2 c/3 d/4' }],
    ['per-pool', { 'a-1-agent': 'a/1', 'b-2-agent': 'b/2', 'c-3-agent': 'c/3', 'd-4-agent': 'd/4' }],
    ['per-network', { 'vm-dhcp-agent-vlan-1': 'a/1 b/2', 'vm-dhcp-agent-mgmt-1': 'c/3', 'vm-dhcp-agent-1': 'd/4' }],
  ])('%s', (topology, expected) => {
    expect(named(POOLS, NOTHING, settings(topology))).toEqual(expected);
    expect(named(POOLS.toReversed(), NOTHING, settings(topology))).toEqual(expected);
  });

  it.each<[string, Record<string, string>, number, Record<string, string>]>([
    ['a full group begins another', {}, 1, { '1': 'a/1', '2': 'a/2', '3': 'a/3' }],
    ['who sits stays, wherever that is', { 'a/1': '3' }, 2, { '1': 'a/2 a/3', '3': 'a/1' }],
    [
      'the last ones must leave a group over its limit',
      { 'a/1': '2', 'a/2': '2', 'a/3': '2' },
      2,
      { '1': 'a/3', '2': 'a/1 a/2' },
    ],
    ['a group of another network or topology is ignored', { 'a/1': 'x', 'a/2': '01' }, 9, { '1': 'a/1 a/2 a/3' }],
    ['nor is one whose number has other characters, or too many', { 'a/1': '2x', 'a/2': '123456' }, 9, { '1': 'a/1 a/2 a/3' }],
    ['numbers may have several digits', { 'a/1': '12', 'a/2': '12345' }, 9, { '1': 'a/3', '12': 'a/1', '12345': 'a/2' }],
    ['those who come take what is free', { 'a/1': '1', 'a/3': '2' }, 2, { '1': 'a/1 a/2', '2': 'a/3' }],
  ])('%s', (_, seats, most, expected) => {
    const current = new Map(Object.entries(seats).map(([key, number]) => [key, [`vm-dhcp-agent-vlan-${number}`]]));
    const pools = ['a/1', 'a/2', 'a/3'].map((key) => pool(key, 'vlan'));
    const full = Object.fromEntries(Object.entries(expected).map(([number, keys]) => [`vm-dhcp-agent-vlan-${number}`, keys]));
    expect(named(pools, current, settings('per-network', most))).toEqual(full);
  });

  it.each([
    ['48', /^vm-dhcp-agent-48-[0-9a-f]{8}-1$/],
    ['4', /^vm-dhcp-agent-4-[0-9a-f]{8}-1$/],
    ['4b', /^vm-dhcp-agent-4b-1$/],
  ])('a network whose name is a number has different groups than pools without a network: %s', (network, expected) => {
    expect(Object.keys(named([pool('a/1', network)], NOTHING, settings('per-network')))[0]).toMatch(expected);
  });

  it('networks that need different nodes are in different groups, and equal nodes share a group', () => {
    const at = (key: string, place: Partial<NetworkPlacement>): PoolToGroup => ({
      key,
      placement: { ...onClusterNetwork(undefined), ...place },
    });
    const pools = [
      at('a/1', { resource: 'bridge.network.kubevirt.io/br1' }),
      at('a/2', { resource: 'bridge.network.kubevirt.io/br2' }),
      at('a/3', { resource: 'bridge.network.kubevirt.io/br1' }),
      at('a/4', { link: 'bridge br1' }),
      at('a/5', { nodeSelector: { rack: 'b' } }),
      at('a/6', { clusterNetwork: 'br1' }),
      at('a/7', { clusterNetwork: 'br1', resource: 'bridge.network.kubevirt.io/br1' }),
      at('a/8', {}),
    ];
    const groups = named(pools, NOTHING, settings('per-network'));
    expect(Object.values(groups)).toEqual(['a/1 a/3', 'a/2', 'a/4', 'a/5', 'a/6', 'a/7', 'a/8']);
    for (const [index, name] of Object.keys(groups).entries())
      expect(name).toMatch(
        index === 4
          ? /^vm-dhcp-agent-br1-1$/
          : index === 6
            ? /^vm-dhcp-agent-1$/
            : /^vm-dhcp-agent-(br1|br2|rack)-[0-9a-f]{8}-1$/,
      );
    expect(groupOfDeployment(Object.keys(groups)[0] ?? '', 'a/1')).toBe(Object.keys(groups)[0]);
  });

  it('placements whose names have the same hash have separate groups, and the first one stays', () => {
    const at = (key: string, value: string): PoolToGroup => ({
      key,
      placement: { ...onClusterNetwork(undefined), nodeSelector: { br1: value } },
    });
    // Found by trying: anybody can.
    const [one, other] = [at('red/one', 'v5881'), at('blue/other', 'v56965')];
    const name = 'vm-dhcp-agent-br1-362f34cb';
    expect(named([one], NOTHING, settings('per-network'))).toEqual({ [`${name}-1`]: 'red/one' });
    const seated = new Map([['red/one', [`${name}-1`]]]);
    expect(named([one, other], seated, settings('per-network'))).toEqual({
      [`${name}-1`]: 'red/one',
      [`${name}-2`]: 'blue/other',
    });
  });

  it('a tenant who names a cluster network after another group gets a separate group', () => {
    const selecting: PoolToGroup = {
      key: 'red/victim',
      placement: { ...onClusterNetwork(undefined), nodeSelector: { 'example.org/br1': 'yes' } },
    };
    const [name = ''] = Object.keys(named([selecting], NOTHING, settings('per-network')));
    for (const forged of [name.slice('vm-dhcp-agent-'.length), name.slice('vm-dhcp-agent-'.length, -2)]) {
      const groups = groupPools(
        [pool('blue/tenant', forged), selecting],
        new Map([['red/victim', [name]]]),
        settings('per-network'),
      );
      expect(groups.get(name)).toMatchObject({ poolKeys: ['red/victim'], placement: selecting.placement });
    }
  });

  it('the group of one network has it, and a group of several has none', () => {
    const networks = (topology: AgentTopology) =>
      [...groupPools(POOLS, NOTHING, settings(topology)).values()].map(({ placement }) => placement?.clusterNetwork);
    expect(networks('per-network')).toEqual(['vlan', 'mgmt', undefined]);
    expect(networks('unified')).toEqual([undefined]);
  });

  it('no pool leaves its group because another comes or goes, or because the order changes', () => {
    const keys = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
    const toPools = (numbers: readonly number[]) => numbers.map((number) => pool(`ns/${number}`, `net${number % 3}`));
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 6 }), fc.integer({ min: 1, max: 8 }), (steps, most) => {
        let current = new Map<string, string[]>();
        for (const step of steps) {
          const pools = toPools(step);
          const groups = groupPools(pools, current, settings('per-network', most));
          expect(groupPools(pools.toReversed(), current, settings('per-network', most))).toEqual(groups);
          const next = new Map([...groups.values()].flatMap(({ name, poolKeys }) => poolKeys.map((key) => [key, name])));
          expect(next.size).toBe(step.length);
          for (const [key, name] of next) if (current.has(key)) expect([name]).toEqual(current.get(key));
          for (const { poolKeys } of groups.values()) expect(poolKeys.length).toBeLessThanOrEqual(most);
          current = new Map([...next].map(([key, name]) => [key, [name]]));
        }
      }),
    );
  });
});

describe('groupOfDeployment', () => {
  it.each<AgentTopology>(['per-pool', 'per-network'])('every group of %s has the name of its Deployment', (topology) => {
    const pools = ['mgmt', 'vlan-1', 'x'.repeat(70), undefined].map((clusterNetwork, index) => ({
      key: `default/${index}`,
      placement: onClusterNetwork(clusterNetwork),
    }));
    for (const { name, poolKeys } of groupPools(pools, NOTHING, settings(topology)).values())
      expect(groupOfDeployment(name, poolKeys[0] ?? '')).toBe(name);
  });

  it.each(['vmdhcp-controller-agent', 'vm-dhcp-agent', 'chart', 'default-other-agent'])(
    'the Deployment %s belongs to a chart, and serves all pools',
    (name) => {
      expect(groupOfDeployment(name, 'default/net')).toBe('vm-dhcp-agents');
    },
  );
});

describe('perPoolGroupName', () => {
  it.each([
    ['default/net-48', 'default-net-48-agent'],
    ['harvester-public/net', /^harvester-public-net-[0-9a-f]{8}-agent$/],
    [`default/${'x'.repeat(60)}`, /^default-x{40}-[0-9a-f]{8}-agent$/],
    ['default/net.48', /^default-net-48-[0-9a-f]{8}-agent$/],
  ])('%s: %s', (key, expected) => {
    const name = perPoolGroupName(key);
    expect(name.length).toBeLessThanOrEqual(63);
    if (typeof expected === 'string') expect(name).toBe(expected);
    else expect(name).toMatch(expected);
  });

  it('pools whose combined names are equal have separate agents', () => {
    expect(perPoolGroupName('a-b/c')).not.toBe(perPoolGroupName('a/b-c'));
    expect(perPoolGroupName('a/b-c')).toBe('a-b-c-agent');
    expect(perPoolGroupName('a-b/c')).toMatch(/^a-b-c-[0-9a-f]{8}-agent$/);
  });

  it('depends only on the pool, so that a new pool never renames the Deployment of another', () => {
    const nameOf = (keys: readonly string[]) =>
      Object.entries(
        named(
          keys.map((key) => pool(key)),
          NOTHING,
          settings('per-pool'),
        ),
      );
    const [alone] = nameOf(['a-b/c']);
    expect(nameOf(['a-b/c', 'a/b-c'])).toContainEqual(alone);
  });
});
