/** Pools with overlapping CIDRs on two NetworkAttachmentDefinitions that lead to one segment. */

import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const bridged = (name: string, vlan: number): KubernetesObject => ({
  ...network(name),
  spec: { config: JSON.stringify({ cniVersion: '0.3.1', type: 'bridge', bridge: 'mgmt-br', vlan }) },
});
const cacheReady = (story: Running, name: string) =>
  story.conditions('IPPool', name).find((condition) => condition.startsWith('CacheReady'));

const withIpv6 = (object: KubernetesObject, cidr?: string): KubernetesObject =>
  cidr === undefined ? object : { ...object, spec: { ...(object.spec as object), ipv6Config: { cidr } } };

async function twoPools(vlan: number, cidr = '10.0.0.0/24', ipv6Cidrs: readonly string[] = []): Promise<Running> {
  const story = new Running();
  const addresses = cidr.startsWith('10.0.0.')
    ? { start: '10.0.0.100', end: '10.0.0.110' }
    : { start: '10.0.1.100', end: '10.0.1.110', ipv4Config: { cidr, serverIP: '10.0.1.2', router: '10.0.1.1' } };
  await story.add(bridged('net-1', 48), bridged('net-2', vlan), withIpv6(pool('pool-1'), ipv6Cidrs[0]));
  const { ipv4Config, start, end } = { ipv4Config: {}, ...addresses };
  const second = pool('pool-2', { network: 'default/net-2', start, end, ipv4Config: { ...ipv4Config, pool: { start, end } } });
  await story.add(withIpv6(second, ipv6Cidrs[1]));
  return story.started();
}

function change({ cluster }: Running, name: string, vlan: number): void {
  const stored = cluster.networks.objects.get(`default/${name}`);
  if (stored === undefined) throw new Error('there is no such network');
  cluster.networks.put({ ...stored, spec: bridged(name, vlan).spec });
}

describe('two pools on networks that are one segment', () => {
  it('cause a warning on both, and are served nevertheless', async () => {
    const story = await twoPools(48);
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    expect(story.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    for (const name of ['pool-1', 'pool-2']) {
      expect(cacheReady(story, name)).toBe('CacheReady=True SegmentShared');
      expect(story.events()).toContain(`SegmentShared on IPPool ${name}`);
    }
    const messages = [...story.cluster.events.objects.values()].map(({ message }) => message);
    expect(messages).toContain(
      'network default/net-1 is the same segment (bridge mgmt-br, VLAN 48) as the network of IPPool default/pool-2, and the CIDRs overlap, so two virtual machines could get one address; delete all but one of these IPPools, or make them again with CIDRs that do not overlap',
    );
  });

  it.each([
    ['2001:db8:48::/64', '2001:db8:48::/64'],
    ['2001:db8:48:1::/64', '2001:db8:48::/56'],
    ['2001:db8:48::/56', '2001:db8:48:1::/64'],
  ])('cause one too if only their IPv6 CIDRs overlap, %s and %s', async (...ipv6Cidrs) => {
    const story = await twoPools(48, '10.0.1.0/24', ipv6Cidrs);
    for (const name of ['pool-1', 'pool-2']) expect(cacheReady(story, name)).toBe('CacheReady=True SegmentShared');
  });

  it.each([
    ['other VLANs', 49, '10.0.0.0/24', []],
    ['CIDRs that do not overlap', 48, '10.0.1.0/24', []],
    ['IPv6 in one of them', 48, '10.0.1.0/24', ['2001:db8:48::/64']],
    ['IPv6 CIDRs that do not overlap', 48, '10.0.1.0/24', ['2001:db8:48::/64', '2001:db8:49::/64']],
    ['one IPv6 CIDR, and other VLANs', 49, '10.0.1.0/24', ['2001:db8:48::/64', '2001:db8:48::/64']],
  ])('no warning if they have %s', async (_, vlan, cidr, ipv6Cidrs) => {
    const story = await twoPools(vlan, cidr, ipv6Cidrs);
    for (const name of ['pool-1', 'pool-2']) expect(cacheReady(story, name)).toBe('CacheReady=True');
    expect(story.events()).toEqual([]);
  });

  it.each([
    ['the other pool is deleted', async (story: Running) => story.remove('IPPool', 'pool-2')],
    ['the other network moves to another VLAN', async (story: Running) => change(story, 'net-2', 50)],
    [
      'the other pool is paused',
      async (story: Running) =>
        story.change('IPPool', 'pool-2', (object) => ({ ...object, spec: { ...(object.spec as object), paused: true } })),
    ],
  ])('the warning ends at once when %s', async (_, end) => {
    const story = await twoPools(48);
    await end(story);
    await story.settle(5_000);
    expect(cacheReady(story, 'pool-1')).toBe('CacheReady=True');
  });

  it('the warning comes when the network is changed', async () => {
    const story = await twoPools(49);
    change(story, 'net-2', 48);
    await story.settle();
    for (const name of ['pool-1', 'pool-2']) expect(cacheReady(story, name)).toBe('CacheReady=True SegmentShared');
  });
});

describe('pools of other namespaces on the segment', () => {
  const inNamespace = (namespace: string, object: KubernetesObject): KubernetesObject => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  const others = (name: string) => [
    inNamespace('other', bridged(`net-${name}`, 48)),
    inNamespace('other', pool(`pool-${name}`, { network: `other/net-${name}` })),
  ];
  /** Keys of the pools whose status is written from now on. */
  function writtenPools({ cluster }: Running): string[] {
    const written: string[] = [];
    cluster.ipPools.onWritten = (what, key) => {
      if (what === 'patchStatus') written.push(key);
    };
    return written;
  }

  it('are not named, but the segment is', async () => {
    const story = new Running();
    await story.add(bridged('net-1', 48), pool('pool-1'), ...others('x'), ...others('y'));
    await story.started();
    const messages = [...story.cluster.events.objects.values()]
      .filter(({ involvedObject }) => involvedObject.name === 'pool-1')
      .map(({ message }) => message);
    expect(messages).toEqual([
      'network default/net-1 is the same segment (bridge mgmt-br, VLAN 48) as the network of an IPPool of another namespace, and the CIDRs overlap, so two virtual machines could get one address; delete this IPPool and create it again with a CIDR that does not overlap, or ask an administrator of the cluster for the other one: its NetworkAttachmentDefinition leads to this segment',
    ]);
  });

  it('that are paused and resumed again and again cause no writes to the others', async () => {
    const story = new Running();
    await story.add(bridged('net-1', 48), pool('pool-1'), ...others('x'));
    await story.started();
    const written = writtenPools(story);
    for (const generation of [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) {
      const stored = story.cluster.ipPools.objects.get('other/pool-x');
      if (stored === undefined) throw new Error('there is no such pool');
      const spec = { ...(stored.spec as object), paused: generation % 2 === 0 };
      story.cluster.ipPools.put({ ...stored, metadata: { ...stored.metadata, generation }, spec });
      await story.settle(1_000);
    }
    expect(new Set(written)).toEqual(new Set(['other/pool-x']));
  });

  it('50 of them cause a few writes each', async () => {
    const story = new Running();
    await story.started();
    const written = writtenPools(story);
    for (let index = 0; index < 50; index++) {
      await story.add(...others(String(index)));
      await story.settle(1_000);
    }
    await story.settle(60_000);
    expect(written.length).toBeLessThan(3 * 50);
    for (const key of ['other/pool-0', 'other/pool-49']) {
      const status = story.cluster.ipPools.objects.get(key)?.status;
      expect(JSON.stringify(status)).toContain('"SegmentShared"');
    }
  });
});
