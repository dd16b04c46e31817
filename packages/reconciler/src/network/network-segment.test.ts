import { CLUSTER_NETWORK_LABEL } from '@vmdhcp/ippool-api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { areSegmentsApart, describeSegment, isSameSegment, type NetworkSegment, readNetworkSegment } from './network-segment.js';

function network(config: unknown, clusterNetwork?: string) {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  return {
    metadata: {
      namespace: 'default',
      name: 'net',
      ...(clusterNetwork && { labels: { [CLUSTER_NETWORK_LABEL]: clusterNetwork } }),
    },
    spec: { config: text },
  };
}

const segment = (kind: NetworkSegment['kind'], link: string, vlan: number, clusterNetwork?: string) => ({
  kind,
  link,
  vlan,
  clusterNetwork,
});

describe('the segment of a NetworkAttachmentDefinition', () => {
  it.each<[string, unknown, NetworkSegment | undefined]>([
    ['a bridge with a VLAN (Harvester)', { type: 'bridge', bridge: 'mgmt-br', vlan: 48 }, segment('bridge', 'mgmt-br', 48)],
    ['an untagged bridge', { type: 'bridge', bridge: 'mgmt-br', vlan: 0 }, segment('bridge', 'mgmt-br', 0)],
    [
      'a bridge of a list of plugins',
      { plugins: [{ type: 'bridge', bridge: 'br0', vlan: 5 }, { type: 'tuning' }] },
      segment('bridge', 'br0', 5),
    ],
    ['macvlan', { type: 'macvlan', master: 'eth0', mode: 'bridge' }, segment('nic', 'eth0', 0)],
    ['macvlan on a VLAN interface', { type: 'macvlan', master: 'eth0.48' }, segment('nic', 'eth0', 48)],
    [
      'an interface whose name ends in a number that is not a VLAN',
      { type: 'macvlan', master: 'eth0.4095' },
      segment('nic', 'eth0.4095', 0),
    ],
    ['an interface whose name ends in more digits', { type: 'macvlan', master: 'eth0.00048' }, segment('nic', 'eth0.00048', 0)],
    ['an interface whose name ends in letters', { type: 'macvlan', master: 'eth0.48x' }, segment('nic', 'eth0.48x', 0)],
    ['an interface whose name begins with a dot', { type: 'macvlan', master: '.48' }, segment('nic', '.48', 0)],
    [
      'a bridge whose name looks like that of a VLAN interface',
      { type: 'bridge', bridge: 'br.48' },
      segment('bridge', 'br.48', 0),
    ],
    ['a VLAN inside a VLAN', { type: 'vlan', master: 'eth0.48', vlanId: 7 }, segment('nic', 'eth0.48', 7)],
    ['VLAN 0 of a VLAN interface', { type: 'macvlan', master: 'eth0.48', vlan: 0 }, segment('nic', 'eth0', 48)],
    ['the vlan plugin', { type: 'vlan', master: 'eth0', vlanId: 48 }, segment('nic', 'eth0', 48)],
    ['ipvlan', { type: 'ipvlan', master: 'bond0' }, segment('nic', 'bond0', 0)],
    ['Open vSwitch', { type: 'ovs', bridge: 'br1', vlan: 7 }, segment('ovs', 'br1', 7)],
    ['an overlay', { type: 'kube-ovn', provider: 'net.default.ovn' }, undefined],
    ['a bridge without a name', { type: 'bridge' }, undefined],
    ['a bridge with an empty name', { type: 'bridge', bridge: '' }, undefined],
    ['a name as long as may be', { type: 'ovs', bridge: 'b'.repeat(64) }, segment('ovs', 'b'.repeat(64), 0)],
    ['a name that is too long', { type: 'ovs', bridge: 'b'.repeat(65) }, undefined],
    ['an empty list of plugins', { type: 'bridge', bridge: 'br0', plugins: [] }, segment('bridge', 'br0', 0)],
    ['the lowest VLAN', { type: 'bridge', bridge: 'br0', vlan: 1 }, segment('bridge', 'br0', 1)],
    ['the highest VLAN', { type: 'bridge', bridge: 'br0', vlan: 4094 }, segment('bridge', 'br0', 4094)],
    ['a VLAN below 0', { type: 'bridge', bridge: 'br0', vlan: -1 }, segment('bridge', 'br0', 0)],
    ['a VLAN that is reserved', { type: 'bridge', bridge: 'br0', vlan: 4095 }, segment('bridge', 'br0', 0)],
    ['a VLAN that is not a whole number', { type: 'bridge', bridge: 'br0', vlan: 1.5 }, segment('bridge', 'br0', 0)],
    ['an invalid VLAN', { type: 'bridge', bridge: 'br0', vlan: 'x' }, segment('bridge', 'br0', 0)],
    ['no JSON', '{"type":', undefined],
    ['JSON of another kind', '[1]', undefined],
    ['nothing', '', undefined],
  ])('%s', (_, config, expected) => {
    expect(readNetworkSegment(network(config))).toEqual(expected);
  });

  it('has the cluster network of the label', () => {
    const read = readNetworkSegment(network({ type: 'bridge', bridge: 'mgmt-br', vlan: 48 }, 'mgmt'));
    expect(read).toEqual(segment('bridge', 'mgmt-br', 48, 'mgmt'));
    const empty = {
      ...network({ type: 'bridge', bridge: 'br0' }),
      metadata: { name: 'net', labels: { [CLUSTER_NETWORK_LABEL]: '' } },
    };
    expect(readNetworkSegment(empty)).toEqual(segment('bridge', 'br0', 0));
  });

  it.each([
    [segment('bridge', 'mgmt-br', 48), 'bridge mgmt-br, VLAN 48'],
    [segment('ovs', 'br1', 7), 'Open vSwitch bridge br1, VLAN 7'],
    [segment('nic', 'eth0', 0), 'interface eth0, untagged'],
  ])('is described: %o', (one, text) => {
    expect(describeSegment(one)).toBe(text);
  });

  it.each([
    ['the same', segment('bridge', 'br', 1), segment('bridge', 'br', 1), true],
    ['another VLAN', segment('bridge', 'br', 1), segment('bridge', 'br', 2), false],
    ['another bridge', segment('bridge', 'br', 1), segment('bridge', 'br-2', 1), false],
    ['a bridge and an interface of one name', segment('bridge', 'br', 1), segment('nic', 'br', 1), false],
    ['one cluster network', segment('bridge', 'br', 1, 'a'), segment('bridge', 'br', 1, 'a'), true],
    ['two cluster networks', segment('bridge', 'br', 1, 'a'), segment('bridge', 'br', 1, 'b'), false],
    ['one without a cluster network', segment('bridge', 'br', 1, 'a'), segment('bridge', 'br', 1), true],
  ])('%s', (_, one, other, same) => {
    expect(isSameSegment(one, other)).toBe(same);
    expect(isSameSegment(other, one)).toBe(same);
  });

  it.each([
    ['another VLAN of one bridge', segment('bridge', 'br', 1), segment('bridge', 'br', 2)],
    ['another VLAN of one cluster network', segment('bridge', 'a', 1, 'one'), segment('bridge', 'b', 2, 'one')],
  ])('%s is kept apart', (_what, one, other) => {
    expect([areSegmentsApart(one, other), areSegmentsApart(other, one)]).toEqual([true, true]);
  });

  it.each([
    ['the same VLAN of another bridge', segment('bridge', 'a', 1), segment('bridge', 'b', 1)],
    ['another VLAN of another bridge', segment('bridge', 'a', 1), segment('bridge', 'b', 2)],
    ['another VLAN of a bridge and of an interface of one name', segment('bridge', 'br', 1), segment('nic', 'br', 2)],
    ['the same VLAN of another cluster network', segment('bridge', 'br', 1, 'one'), segment('bridge', 'br', 1, 'two')],
    ['the same place', segment('bridge', 'br', 1), segment('bridge', 'br', 1)],
  ])('%s is not known to be kept apart', (_what, one, other) => {
    expect([areSegmentsApart(one, other), areSegmentsApart(other, one)]).toEqual([false, false]);
  });

  it('law: reading any text never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readNetworkSegment(network(text))));
  });
});
