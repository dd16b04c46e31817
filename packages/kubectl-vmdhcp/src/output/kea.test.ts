/** Fault: Kea gets ranges with the addresses that the IPPool never leases, and has no reservation for them: it leases them to unknown clients. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { exportedPools, toKea } from './exported-addresses.js';

const A = '02:00:00:00:00:0a';
const POOL: KubernetesObject = {
  metadata: { namespace: 'default', name: 'pool' },
  spec: {
    networkName: 'net',
    ipv4Config: {
      cidr: '10.1.0.0/24',
      serverIP: '10.1.0.12',
      router: '10.1.0.11',
      pool: { start: '10.1.0.10', end: '10.1.0.99', exclude: ['10.1.0.20-10.1.0.29', '10.1.0.50'] },
    },
  },
  status: { ipv4: { allocated: { '10.1.0.10': A } } },
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

function acceptedByKea(pools: readonly KubernetesObject[], configs: readonly KubernetesObject[] = []): string {
  const path = join(mkdtempSync(join(tmpdir(), 'h6-kea-')), 'kea.json');
  writeFileSync(path, JSON.stringify(toKea(exportedPools(pools, configs))));
  const { status, stdout, stderr } = spawnSync('/usr/sbin/kea-dhcp4', ['-t', path], { encoding: 'utf8' });
  return status === 0 ? 'accepted' : `${stdout}${stderr}`;
}

it('Kea accepts two pools whose networks have the same subnet, as VLANs often have', () => {
  const other = {
    ...POOL,
    metadata: { namespace: 'other', name: 'pool' },
    spec: { ...(POOL.spec as object), networkName: 'net-2' },
  };
  expect(acceptedByKea([POOL, other])).toBe('accepted');
});

it('Kea accepts a client that keeps its address although another one is reserved for it', () => {
  const spec = {
    networkName: 'net',
    ipv4Config: {
      ...(POOL.spec as { ipv4Config: object }).ipv4Config,
      reservations: [{ macAddress: A, ipAddress: '10.1.0.60' }],
    },
  };
  expect(acceptedByKea([{ ...POOL, spec }])).toBe('accepted');
});
it('plain', () => expect(acceptedByKea([POOL])).toBe('accepted'));
