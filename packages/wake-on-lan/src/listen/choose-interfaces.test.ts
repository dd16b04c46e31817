import { describe, expect, it } from 'vitest';
import { chooseInterfaces } from './choose-interfaces.js';
import { HARVESTER, link } from './links-fixtures.js';

const chosen = (patterns: readonly string[], links = HARVESTER) =>
  chooseInterfaces(links, patterns).links.map(({ interfaceName }) => interfaceName);

describe('chooseInterfaces', () => {
  it('by default, on a Harvester node: bridges and VLANs of the node, not ports, pods or virtual machines', () => {
    expect(chosen([])).toEqual(['mgmt-br', 'mgmt-br.100', 'prod-br', 'eno3']);
  });

  it.each([
    ['a bond without a bridge', [link('eno1', { master: 3 }), link('bond0', { index: 3, kind: 'bond' })], ['bond0']],
    ['a card of a container that is a node', [link('eth0', { kind: 'veth' }), link('veth12', { kind: 'veth' })], ['eth0']],
    ['the bridge of Open vSwitch', [link('br-ex', { kind: 'openvswitch' }), link('br-int', { kind: 'openvswitch' })], ['br-ex']],
    ['an interface of a VRF', [link('eth0', { master: 9 }), link('red', { index: 9, kind: 'vrf' })], ['eth0']],
    ['no network of Docker', [link('docker0', { kind: 'bridge' }), link('br-0123456789ab', { kind: 'bridge' })], []],
    ['nothing that is down, and no tunnel', [link('eth0', { isUp: false }), link('vxlan1', { kind: 'vxlan' })], []],
  ])('by default: %s', (_, links, expected) => {
    expect(chosen([], links)).toEqual(expected);
  });

  it.each([
    [['*-br'], ['mgmt-br', 'prod-br']],
    [
      ['*-br', 'eno?'],
      ['mgmt-br', 'prod-br', 'eno3'],
    ],
    [['!mgmt-*'], ['prod-br', 'eno3']],
    [
      ['*', '!*.100'],
      ['mgmt-br', 'prod-br', 'eno3'],
    ],
    [['mgmt-b.'], []],
    [['eno1'], ['eno1']],
    [
      ['veth5f3a', 'prod-br'],
      ['prod-br', 'veth5f3a'],
    ],
    [['eno3', '!eno*'], []],
  ])('%j', (patterns, expected) => {
    expect(chosen(patterns)).toEqual(expected);
  });

  it('names of interfaces that cannot be used are reported', () => {
    const links = [link('eth0', {}), link('eth1', { isUp: false }), link('wg0', { isEthernet: false })];
    expect(chooseInterfaces(links, ['wg0', 'eth1', 'eth0', 'eth9', 'br*']).missing).toEqual(['eth1', 'eth9', 'wg0']);
  });
});
