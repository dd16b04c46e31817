import { CLUSTER_NETWORK_LABEL } from '@vmdhcp/ippool-api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeSegment, isSameSegment, type NetworkSegment, readNetworkSegment } from './network-segment.js';

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
    ['the vlan plugin', { type: 'vlan', master: 'eth0', vlanId: 48 }, segment('nic', 'eth0', 48)],
    ['ipvlan', { type: 'ipvlan', master: 'bond0' }, segment('nic', 'bond0', 0)],
    ['Open vSwitch', { type: 'ovs', bridge: 'br1', vlan: 7 }, segment('ovs', 'br1', 7)],
    ['an overlay', { type: 'kube-ovn', provider: 'net.default.ovn' }, undefined],
    ['a bridge without a name', { type: 'bridge' }, undefined],
    ['a VLAN that is none', { type: 'bridge', bridge: 'br0', vlan: 'x' }, segment('bridge', 'br0', 0)],
    ['no JSON', '{"type":', undefined],
    ['JSON of another kind', '[1]', undefined],
    ['nothing', '', undefined],
  ])('%s', (_, config, expected) => {
    expect(readNetworkSegment(network(config))).toEqual(expected);
  });

  it('has the cluster network of the label', () => {
    const read = readNetworkSegment(network({ type: 'bridge', bridge: 'mgmt-br', vlan: 48 }, 'mgmt'));
    expect(read).toEqual(segment('bridge', 'mgmt-br', 48, 'mgmt'));
    expect(describeSegment(segment('bridge', 'mgmt-br', 48))).toBe('bridge mgmt-br, VLAN 48');
    expect(describeSegment(segment('nic', 'eth0', 0))).toBe('interface eth0, untagged');
  });

  it.each([
    ['the same', segment('bridge', 'br', 1), segment('bridge', 'br', 1), true],
    ['another VLAN', segment('bridge', 'br', 1), segment('bridge', 'br', 2), false],
    ['another bridge', segment('bridge', 'br', 1), segment('bridge', 'br-2', 1), false],
    ['a bridge and an interface of one name', segment('bridge', 'br', 1), segment('nic', 'br', 1), false],
    ['two cluster networks', segment('bridge', 'br', 1, 'a'), segment('bridge', 'br', 1, 'b'), false],
    ['one without a cluster network', segment('bridge', 'br', 1, 'a'), segment('bridge', 'br', 1), true],
  ])('%s', (_, one, other, same) => {
    expect(isSameSegment(one, other)).toBe(same);
    expect(isSameSegment(other, one)).toBe(same);
  });

  it('law: any text is read or left alone, never thrown over', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readNetworkSegment(network(text))));
  });
});
