/** What the tests with faults compare: it is tried with objects in which something is wrong. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { findAddressFaults, findLackingAddresses } from '../src/index.js';

const VLAN = 'default/vlan-48';

function config(name: string, macAddress: string, allocatedIPAddress?: string): KubernetesObject {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}` },
    spec: { networkConfigs: [{ networkName: VLAN, macAddress }] },
    status: { networkConfigs: [{ networkName: VLAN, macAddress, ...(allocatedIPAddress && { allocatedIPAddress }) }] },
  };
}

function pool(allocated: Readonly<Record<string, string>>): KubernetesObject {
  return {
    metadata: { namespace: 'default', name: 'net-48' },
    spec: { networkName: VLAN, ipv4Config: { pool: { start: '192.168.48.10', end: '192.168.48.11' } } },
    status: { ipv4: { allocated } },
  };
}

describe('findAddressFaults', () => {
  it('finds one address that two virtual machines have on one network', () => {
    const configs = [config('vm-1', 'a', '192.168.48.10'), config('vm-2', 'b', '192.168.48.10')];
    expect(findAddressFaults(configs, new Map())).toEqual([
      '192.168.48.10 on default/vlan-48 is the address of default/vm-1 and of default/vm-2',
    ]);
  });

  it('finds an address that has changed since the last check', () => {
    const known = new Map();
    expect(findAddressFaults([config('vm-1', 'a', '192.168.48.10')], known)).toEqual([]);
    expect(findAddressFaults([config('vm-1', 'a', '192.168.48.11')], known)).toEqual([
      'default/vm-1 had 192.168.48.10 on default/vlan-48, and has 192.168.48.11',
    ]);
  });
});

describe('findLackingAddresses', () => {
  it.each([
    [
      'no pool records an address',
      config('vm-1', 'a'),
      {},
      ['default/vm-1 has no address on default/vlan-48, and the pool has one for it'],
    ],
    [
      'the pool records an address that is not shown',
      config('vm-1', 'a'),
      { '192.168.48.10': 'a' },
      ['default/vm-1 shows undefined on default/vlan-48, and the pool records 192.168.48.10'],
    ],
    [
      'another address is shown than recorded',
      config('vm-1', 'a', '192.168.48.11'),
      { '192.168.48.10': 'a' },
      ['default/vm-1 shows 192.168.48.11 on default/vlan-48, and the pool records 192.168.48.10'],
    ],
    ['others have all addresses of the pool: nothing', config('vm-1', 'a'), { '192.168.48.10': 'b', '192.168.48.11': 'c' }, []],
    ['the address is shown as recorded: nothing', config('vm-1', 'a', '192.168.48.10'), { '192.168.48.10': 'a' }, []],
  ])('finds, where %s', (_, one, allocated, found) => {
    expect(findLackingAddresses([one], [pool(allocated)])).toEqual(found);
  });
});
