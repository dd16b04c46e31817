import { isRecord, type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPool } from '../pool/check-pool.js';
import { NO_CLUSTER_NETWORKS } from './admission-facts.js';
import { change, clusterNetworks, creation, ipPool, shown } from './admission-fixtures.js';
import { defaultIpPool, type JsonPatchOperation } from './default-ip-pool.js';

const NOTHING = { clusterNetworks: NO_CLUSTER_NETWORKS };
const open = { serverIP: undefined, pool: undefined, leaseTime: undefined };
const only = (config: Readonly<Record<string, unknown>>) => ipPool({ ...open, ...config });

/** Applies the operations to the object, like an API server. */
function patched(object: KubernetesObject, patch: readonly JsonPatchOperation[]): KubernetesObject {
  const copy = structuredClone(object);
  for (const operation of patch) {
    const [last = '', ...rest] = operation.path.split('/').slice(1).toReversed();
    const parent = readField(copy, ...rest.toReversed()) as Record<string, unknown>;
    expect(isRecord(parent), `the parent of ${operation.path} is there`).toBe(true);
    if (operation.op === 'remove') delete parent[last];
    else parent[last] = operation.value;
  }
  return copy;
}

function filled(object: KubernetesObject): unknown[] {
  const { patch, problems } = defaultIpPool(creation(object), NOTHING);
  expect(problems).toEqual([]);
  const config = readField(patched(object, patch).spec, 'ipv4Config');
  const pool = readField(config, 'pool');
  return [readField(pool, 'start'), readField(pool, 'end'), readField(config, 'serverIP'), readField(config, 'leaseTime')];
}

describe('fields that a creation leaves out are filled in', () => {
  it.each<[what: string, config: Readonly<Record<string, unknown>>, start: string, end: string, server: string]>([
    ['a /24 without a router', { cidr: '192.168.0.0/24' }, '192.168.0.1', '192.168.0.254', '192.168.0.1'],
    [
      'a /24 with empty texts, as upstream manifests have it',
      { cidr: '192.168.0.0/24', serverIP: '', router: '', pool: { start: '', end: '' } },
      '192.168.0.1',
      '192.168.0.254',
      '192.168.0.1',
    ],
    [
      'a /29 with a router',
      { cidr: '172.19.64.128/29', router: '172.19.64.129' },
      '172.19.64.129',
      '172.19.64.134',
      '172.19.64.130',
    ],
    [
      'a /30 with a router: no address is left to lease',
      { cidr: '172.19.64.128/30', router: '172.19.64.129' },
      '172.19.64.129',
      '172.19.64.130',
      '172.19.64.130',
    ],
    ['a /30 without a router', { cidr: '172.19.64.128/30' }, '172.19.64.129', '172.19.64.130', '172.19.64.129'],
    [
      'a /30 with a start',
      { cidr: '172.19.64.128/30', pool: { start: '172.19.64.130' } },
      '172.19.64.130',
      '172.19.64.130',
      '172.19.64.129',
    ],
    [
      'ranges without start and end',
      { cidr: '192.168.0.0/24', pool: { ranges: ['192.168.0.90-192.168.0.99', '192.168.0.10-192.168.0.19'] } },
      '192.168.0.10',
      '192.168.0.99',
      '192.168.0.1',
    ],
    [
      'ranges with another start and end, which follow',
      {
        cidr: '192.168.0.0/24',
        serverIP: '192.168.0.5',
        pool: { start: '192.168.0.1', end: '192.168.0.20', ranges: ['192.168.0.10-192.168.0.99'] },
      },
      '192.168.0.10',
      '192.168.0.99',
      '192.168.0.5',
    ],
    [
      'a /29 with exclusions',
      { cidr: '172.19.64.128/29', pool: { exclude: ['172.19.64.129', '172.19.64.131'] } },
      '172.19.64.129',
      '172.19.64.134',
      '172.19.64.130',
    ],
    [
      'server and router of its own',
      { cidr: '192.168.0.0/24', serverIP: '192.168.0.50', router: '192.168.0.100' },
      '192.168.0.1',
      '192.168.0.254',
      '192.168.0.50',
    ],
    [
      'a reserved first address',
      { cidr: '192.168.0.0/24', reservations: [{ macAddress: '02:00:00:00:00:01', ipAddress: '192.168.0.1' }] },
      '192.168.0.1',
      '192.168.0.254',
      '192.168.0.2',
    ],
    ['null fields', { cidr: '192.168.0.0/24', serverIP: null, pool: null }, '192.168.0.1', '192.168.0.254', '192.168.0.1'],
  ])('%s', (_what, config, start, end, server) => {
    expect(filled(only(config))).toEqual([start, end, server, 31_536_000]);
  });

  it('and exclusions stay', () => {
    const object = only({ cidr: '172.19.64.128/29', pool: { exclude: ['172.19.64.129'] } });
    const after = patched(object, defaultIpPool(creation(object), NOTHING).patch);
    expect(readField(after.spec, 'ipv4Config', 'pool', 'exclude')).toEqual(['172.19.64.129']);
  });

  it('nothing where all is given; the lease time alone where only that is missing', () => {
    expect(defaultIpPool(creation(ipPool()), NOTHING)).toEqual({ patch: [], problems: [], warnings: [] });
    expect(defaultIpPool(creation(ipPool({ leaseTime: undefined })), NOTHING).patch).toEqual([
      { op: 'add', path: '/spec/ipv4Config/leaseTime', value: 31_536_000 },
    ]);
  });

  it('only the range where server and lease time are given', () => {
    const object = ipPool({ serverIP: '192.168.0.50', router: '192.168.0.100', pool: undefined });
    expect(defaultIpPool(creation(object), NOTHING).patch).toEqual([
      { op: 'add', path: '/spec/ipv4Config/pool', value: { start: '192.168.0.1', end: '192.168.0.254' } },
    ]);
  });

  it('the server never has the address of the API server', () => {
    const facts = { clusterNetworks: clusterNetworks({ apiServers: ['192.168.0.1', '10.0.0.1'] }) };
    const { patch } = defaultIpPool(creation(only({ cidr: '192.168.0.0/24' })), facts);
    expect(patch).toContainEqual({ op: 'add', path: '/spec/ipv4Config/serverIP', value: '192.168.0.2' });
  });

  it('warns of a start or an end that ranges replace, not of those that follow from before', () => {
    const ranges = ['192.168.0.10-192.168.0.19'];
    const old = ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.19', ranges } });
    const warnings = (pool: object) => defaultIpPool(change(old, ipPool({ pool })), NOTHING).warnings.map(shown);
    expect(warnings({ start: '192.168.0.10', end: '192.168.0.30', ranges })).toEqual([
      'spec.ipv4Config.pool.end overruled-by-ranges: ranges is set, so end 192.168.0.30 has no effect, and becomes 192.168.0.19; change ranges',
    ]);
    expect(warnings({ start: '192.168.0.10', end: '192.168.0.19', ranges: ['192.168.0.10-192.168.0.29'] })).toEqual([]);
  });

  it('a server that was chosen without knowing the router is a warning', () => {
    const warnings = (config: Readonly<Record<string, unknown>>) =>
      defaultIpPool(creation(only(config)), NOTHING).warnings.map(shown);
    expect(warnings({ cidr: '192.168.0.0/24' })).toEqual([
      'spec.ipv4Config.serverIP server-address-chosen: serverIP and router are not set, so the DHCP server has 192.168.0.1; if another host on the network has 192.168.0.1, as the router often has, delete the IPPool and create it again with router or serverIP',
    ]);
    expect(warnings({ cidr: '192.168.0.0/24', router: '192.168.0.1' })).toEqual([]);
  });
});

describe('all or nothing: a pool that cannot be completed is refused', () => {
  it.each<[what: string, config: Readonly<Record<string, unknown>>, problems: string[]]>([
    [
      'every address is excluded',
      { cidr: '172.19.64.128/30', pool: { exclude: ['172.19.64.129', '172.19.64.130'] } },
      [
        'spec.ipv4Config.serverIP no-server-address-left: no address of 172.19.64.128/30 is left for the DHCP server; exclude fewer addresses, widen the cidr, or set the server address',
      ],
    ],
    [
      'a /32',
      { cidr: '192.168.0.1/32' },
      [
        'spec.ipv4Config.cidr subnet-too-small: 192.168.0.1/32 is too small to choose the address of the server and the range; set serverIP, pool.start and pool.end, or choose a subnet of /30 or larger',
      ],
    ],
    [
      'a /31',
      { cidr: '192.168.0.0/31' },
      [
        'spec.ipv4Config.cidr subnet-too-small: 192.168.0.0/31 is too small to choose the address of the server and the range; set serverIP, pool.start and pool.end, or choose a subnet of /30 or larger',
      ],
    ],
    [
      'an invalid exclusion',
      { cidr: '192.168.0.0/24', pool: { exclude: ['192.168.0.300'] } },
      [
        'spec.ipv4Config.pool.exclude[0] not-a-range: "192.168.0.300" is neither an address nor a range; write 192.168.48.5 or 192.168.48.10-192.168.48.19',
      ],
    ],
    [
      'start after end, and no server',
      { cidr: '192.168.0.0/24', pool: { start: '192.168.0.9', end: '192.168.0.5' } },
      [
        'spec.ipv4Config.pool.end range-reversed: the range ends at 192.168.0.5, before its start 192.168.0.9; swap start and end',
      ],
    ],
    [
      'an invalid server address is refused, not replaced',
      { cidr: '192.168.0.0/24', serverIP: '192.168.0.1000' },
      [
        'spec.ipv4Config.serverIP not-an-address: "192.168.0.1000" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10',
      ],
    ],
  ])('%s', (_what, config, problems) => {
    const defaulted = defaultIpPool(creation(only(config)), NOTHING);
    expect(defaulted.patch).toEqual([]);
    expect(defaulted.problems.map(shown)).toEqual(problems);
  });

  it.each<[string, unknown]>([
    ['no settings', {}],
    ['settings of another type', { ipv4Config: 'x' }],
    ['a cidr of another type', { ipv4Config: { cidr: 7 } }],
  ])('%s are left to validation', (_what, spec) => {
    expect(defaultIpPool(creation({ ...ipPool(), spec }), NOTHING)).toEqual({ patch: [], problems: [], warnings: [] });
  });
});

describe('fields that a change leaves out', () => {
  it('keep their values, so that a manifest with only a CIDR can be applied again by any means', () => {
    const old = ipPool({ serverIP: '192.168.0.77', pool: { start: '192.168.0.80', end: '192.168.0.90' } });
    const { patch, problems, warnings } = defaultIpPool(change(old, only({ cidr: '192.168.0.0/24' })), NOTHING);
    expect([problems, warnings]).toEqual([[], []]);
    const after = patched(only({ cidr: '192.168.0.0/24' }), patch);
    expect(readField(after.spec, 'ipv4Config')).toEqual({
      cidr: '192.168.0.0/24',
      serverIP: '192.168.0.77',
      pool: { start: '192.168.0.80', end: '192.168.0.90' },
      leaseTime: 31_536_000,
    });
  });

  it('a deletion needs no defaults', () => {
    expect(defaultIpPool({ operation: 'DELETE', namespace: 'default', name: 'x' }, NOTHING).patch).toEqual([]);
  });
});

it('law: the completed pool is valid, and has all fields', () => {
  const octet = fc.integer({ min: 1, max: 254 });
  const config = fc.record(
    {
      router: octet.map((last) => `192.168.0.${last}`),
      serverIP: octet.map((last) => `192.168.0.${last}`),
      pool: fc.record(
        { start: octet.map((last) => `192.168.0.${last}`), exclude: fc.array(octet.map((last) => `192.168.0.${last}`)) },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(config, fc.integer({ min: 20, max: 32 }), (settings, length) => {
      const object = only({ ...settings, cidr: `192.168.0.0/${length}` });
      const { patch, problems } = defaultIpPool(creation(object), NOTHING);
      if (problems.length > 0) {
        expect(patch).toEqual([]);
        return;
      }
      const after = patched(object, patch);
      expect(checkPool(after).ok).toBe(true);
      expect(defaultIpPool(creation(after), NOTHING).patch).toEqual([]);
    }),
  );
});
