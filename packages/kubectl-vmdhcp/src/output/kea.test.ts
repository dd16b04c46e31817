import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { exportedPools } from './exported-addresses.js';
import { poolsWithOneSubnet, toKea } from './kea-configuration.js';

const A = '02:00:00:00:00:0a';
const POOL: KubernetesObject = {
  ...{ apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool' },
  metadata: { namespace: 'default', name: 'pool' },
  spec: {
    networkName: 'default/net',
    ipv4Config: {
      cidr: '10.1.0.0/24',
      serverIP: '10.1.0.12',
      router: '10.1.0.11',
      pool: { start: '10.1.0.10', end: '10.1.0.99', exclude: ['10.1.0.20-10.1.0.29', '10.1.0.50'] },
    },
  },
  status: { ipv4: { allocated: { '10.1.0.10': A }, used: 1, available: 70 } },
};

interface Kea {
  readonly Dhcp4: { readonly subnet4: readonly { readonly pools: readonly { readonly pool: string }[] }[] };
}

function leasable(address: string): boolean {
  const { Dhcp4 } = toKea(exportedPools([POOL], [])) as Kea;
  const ranges = Dhcp4.subnet4.flatMap(({ pools }) => pools.map(({ pool }) => pool.split(' - ').map(parseIpv4Address)));
  const wanted = parseIpv4Address(address) as number;
  return ranges.some(([first = 0, last = 0]) => first <= wanted && wanted <= last);
}

it.each(['10.1.0.20', '10.1.0.29', '10.1.0.50', '10.1.0.11', '10.1.0.12'])(
  'Kea may not lease %s to an unknown client: it is excluded, the router or the server',
  (address) => {
    expect(leasable('10.1.0.30')).toBe(true);
    expect(leasable(address)).toBe(false);
  },
);

const hasKea = existsSync('/usr/sbin/kea-dhcp4');
const NEEDS = '[needs kea-dhcp4: Debian package kea-dhcp4-server]';

function keaSaysOf(pools: readonly KubernetesObject[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-kea-'));
  try {
    writeFileSync(join(folder, 'kea.json'), JSON.stringify(toKea(exportedPools(pools, []))));
    const { status, stdout, stderr } = spawnSync('/usr/sbin/kea-dhcp4', ['-t', join(folder, 'kea.json')], { encoding: 'utf8' });
    return status === 0 ? 'accepted' : `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it.skipIf(!hasKea)(
  `two pools with one subnet, as VLANs often have, are not exported together: Kea would refuse the file ${NEEDS}`,
  () => {
    const other = { ...POOL, metadata: { namespace: 'other', name: 'pool' } };
    const written = { ...other, spec: { networkName: 'default/net', ipv4Config: { cidr: '10.1.0.1/24' } } };
    const exported = exportedPools([POOL, other], []);
    expect(keaSaysOf([POOL, other])).toContain("subnet with the prefix of '10.1.0.0/24' already exists");
    expect(poolsWithOneSubnet(exported)).toEqual(['default/pool', 'other/pool']);
    expect(poolsWithOneSubnet(exported.slice(1))).toBeUndefined();
    expect(poolsWithOneSubnet(exportedPools([POOL, written], []))).toEqual(['default/pool', 'other/pool']);
  },
);

it.skipIf(!hasKea)(`Kea accepts a client that keeps its address although another one is reserved for it ${NEEDS}`, () => {
  const spec = {
    networkName: 'default/net',
    ipv4Config: {
      ...(POOL.spec as { ipv4Config: object }).ipv4Config,
      reservations: [{ macAddress: A, ipAddress: '10.1.0.60' }],
    },
  };
  expect(keaSaysOf([{ ...POOL, spec }])).toBe('accepted');
});

it.skipIf(!hasKea)(`Kea accepts each option of a pool, and where its clients boot from ${NEEDS}`, () => {
  const { ipv4Config } = POOL.spec as { ipv4Config: object };
  const settings = {
    ...{ dns: ['10.1.0.3'], domainName: 'lab.example', domainSearch: ['lab.example', 'example'], ntp: ['10.1.0.4'], mtu: 1400 },
    ...{ staticRoutes: [{ destination: '10.9.0.0/16', gateway: '10.1.0.7' }], nextServer: '10.1.0.8', bootfile: 'pxe.0' },
    options: [{ code: 44, value: '10.1.0.9' }],
  };
  const pool = { ...POOL, spec: { networkName: 'default/net', ipv4Config: { ...ipv4Config, ...settings } } };
  expect(keaSaysOf([pool])).toBe('accepted');
  expect(toKea(exportedPools([pool], []))).toMatchObject({
    Dhcp4: {
      subnet4: [
        {
          ...{ 'next-server': '10.1.0.8', 'boot-file-name': 'pxe.0' },
          'option-data': [
            // With the default route, as clients that read option 121 ignore option 3.
            { code: 121, 'csv-format': false, data: '100a090a010007000a01000b' },
            { name: 'routers', data: '10.1.0.11' },
            { name: 'domain-name-servers', data: '10.1.0.3' },
            { name: 'domain-name', data: 'lab.example' },
            { name: 'domain-search', data: 'lab.example, example' },
            { name: 'ntp-servers', data: '10.1.0.4' },
            { name: 'interface-mtu', data: '1400' },
            { code: 44, 'csv-format': false, data: '0a010009' },
          ],
        },
      ],
    },
  });
});
