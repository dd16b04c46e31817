import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { exportedPools, toCsv } from './exported-addresses.js';
import { toKea } from './kea-configuration.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const POOL: KubernetesObject = {
  ...{ apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool' },
  metadata: { namespace: 'default', name: 'pool' },
  spec: {
    networkName: 'net',
    ipv4Config: {
      cidr: '10.1.0.0/24',
      serverIP: '10.1.0.2',
      pool: { start: '10.1.0.10', end: '10.1.0.99' },
      router: '10.1.0.1',
      dns: ['10.1.0.3', '10.1.0.4'],
      leaseTime: 600,
      reservations: [{ macAddress: B, ipAddress: '10.1.0.9' }],
    },
  },
  status: { ipv4: { allocated: { '10.1.0.10': A, '10.1.0.2': 'RESERVED' }, used: 1, available: 88 } },
};
const CONFIG: KubernetesObject = {
  metadata: {
    namespace: 'red',
    name: 'web,1',
    annotations: {
      'network.harvesterhci.io/interfaces': JSON.stringify({ eth0: { networkName: 'default/net', macAddress: A } }),
    },
  },
  spec: { vmName: 'web,1' },
  status: {
    networkConfigs: [{ networkName: 'default/net', macAddress: A, allocatedIPAddress: '10.1.0.10', state: 'Allocated' }],
  },
};
const POOLS = exportedPools([POOL], [CONFIG]);

it('csv: assigned and reserved addresses in order, quoted as in RFC 4180', () => {
  expect(toCsv(POOLS).split('\r\n')).toEqual([
    'pool,network,address,macAddress,namespace,virtualMachine,interface,ipv6Address',
    `default/pool,default/net,10.1.0.9,${B},,,,`,
    `default/pool,default/net,10.1.0.10,${A},red,"web,1",eth0,`,
    '',
  ]);
  const [entry] = (CONFIG.status as { networkConfigs: object[] }).networkConfigs;
  const status = { networkConfigs: [{ ...entry, allocatedIPv6Address: '2001:db8:1::a' }] };
  expect(toCsv(exportedPools([POOL], [{ ...CONFIG, status }]))).toContain('"web,1",eth0,2001:db8:1::a\r\n');
});

it('csv: a reserved host that is not a virtual machine has its IPv6 address, too', () => {
  const pool = { ...POOL, spec: { ...(POOL.spec as object), ipv6Config: { cidr: '2001:db8:1::/64' } } };
  expect(toCsv(exportedPools([pool], []))).toContain(`10.1.0.9,${B},,,,2001:db8:1::9\r\n`);
});

it('kea: a subnet with its options, and a reservation for each address', () => {
  expect(toKea(POOLS)).toMatchObject({
    Dhcp4: {
      subnet4: [
        {
          id: 1,
          subnet: '10.1.0.0/24',
          pools: [{ pool: '10.1.0.10 - 10.1.0.99' }],
          'valid-lifetime': 600,
          'option-data': [
            { name: 'routers', data: '10.1.0.1' },
            { name: 'domain-name-servers', data: '10.1.0.3, 10.1.0.4' },
          ],
          reservations: [
            { 'hw-address': B, 'ip-address': '10.1.0.9' },
            { 'hw-address': A, 'ip-address': '10.1.0.10', hostname: 'web,1' },
          ],
        },
      ],
    },
  });
});

it('kea: a pool for each range', () => {
  const spec = {
    networkName: 'default/net',
    ipv4Config: {
      cidr: '10.1.0.0/24',
      serverIP: '10.1.0.2',
      pool: { start: '10.1.0.10', end: '10.1.0.99', ranges: ['10.1.0.99', '10.1.0.10-10.1.0.15', '10.1.0.12-10.1.0.19'] },
    },
  };
  expect(toKea(exportedPools([{ ...POOL, spec }], []))).toMatchObject({
    Dhcp4: { subnet4: [{ pools: [{ pool: '10.1.0.10 - 10.1.0.19' }, { pool: '10.1.0.99 - 10.1.0.99' }] }] },
  });
});

it('an address is exported with the virtual machine that has it, whichever others claim its MAC address', () => {
  const claim = (name: string, month: string): KubernetesObject => ({
    metadata: { namespace: 'red', name, creationTimestamp: `2026-${month}-01T00:00:00Z` },
    status: {
      networkConfigs: [{ networkName: 'default/net', macAddress: A, allocatedIPAddress: '10.1.0.10', state: 'Pending' }],
    },
  });
  const configs = [claim('a-copy', '01'), CONFIG, claim('zz-copy', '03')];
  for (const listed of [configs, configs.toReversed()])
    expect(exportedPools([POOL], listed)[0]?.addresses.map((one) => one.virtualMachine)).toEqual(['', 'web,1']);
});

it('csv: names from others control neither a terminal nor a spreadsheet', () => {
  const [esc, bell] = ['\u001b', '\u0007'];
  const names = { [`eth0${esc}]0;x${bell}`]: 'eth0 ]0;x ', '=cmd|x!A1': "'=cmd|x!A1", '@x': "'@x", '+x': "'+x", '-x': "'-x" };
  for (const [name, shown] of Object.entries(names)) {
    const interfaces = JSON.stringify({ [name]: { networkName: 'default/net', macAddress: A } });
    const annotations = { 'network.harvesterhci.io/interfaces': interfaces };
    const config = { ...CONFIG, metadata: { ...CONFIG.metadata, annotations } };
    expect(toCsv(exportedPools([POOL], [config]))).toContain(`"web,1",${shown},`);
  }
});

it('kea: a server with this file listens on every interface, and accepts reservations inside the range', () => {
  const { Dhcp4 } = toKea(POOLS) as { readonly Dhcp4: Readonly<Record<string, unknown>> };
  expect({ ...Dhcp4, subnet4: [] }).toEqual({
    'interfaces-config': { interfaces: ['*'] },
    // The default of Kea is true: then other clients could get reserved addresses of the range.
    'reservations-out-of-pool': false,
    subnet4: [],
  });
});
