import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { exportedPools, toCsv, toKea } from './exported-addresses.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const POOL: KubernetesObject = {
  metadata: { namespace: 'default', name: 'pool' },
  spec: {
    networkName: 'net',
    ipv4Config: {
      cidr: '10.1.0.0/24',
      pool: { start: '10.1.0.10', end: '10.1.0.99' },
      router: '10.1.0.1',
      dns: ['10.1.0.3', '10.1.0.4'],
      leaseTime: 600,
      reservations: [{ macAddress: B, ipAddress: '10.1.0.9' }],
    },
  },
  status: { ipv4: { allocated: { '10.1.0.10': A, '10.1.0.2': 'RESERVED' } } },
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

it('csv: assigned and reserved addresses in their order, quoted as RFC 4180 has it', () => {
  expect(toCsv(POOLS).split('\r\n')).toEqual([
    'pool,network,address,macAddress,namespace,virtualMachine,interface',
    `default/pool,default/net,10.1.0.9,${B},,,`,
    `default/pool,default/net,10.1.0.10,${A},red,"web,1",eth0`,
    '',
  ]);
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
