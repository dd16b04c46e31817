import { formatIpv4Address, formatIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import type { IPPool } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { toPool } from './to-pool.js';

type IPv4Config = NonNullable<IPPool['spec']['ipv4Config']>;

function objectOf(settings: Partial<IPv4Config> = {}): IPPool {
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { name: 'net' },
    spec: {
      networkName: 'default/net',
      ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.1', pool: { start: '10.0.0.10', end: '10.0.0.99' }, ...settings },
    },
  };
}

function poolOf(settings: Partial<IPv4Config>, resolved?: Parameters<typeof toPool>[1]) {
  const checked = toPool(objectOf(settings), resolved);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

describe('an IPPool becomes a pool', () => {
  it('named by namespace and name, with the lease time that upstream gives', () => {
    expect(poolOf({})).toMatchObject({ name: 'default/net', leaseTimeSeconds: 31_536_000, authoritative: false });
  });

  it.each([
    [null, 31_536_000],
    [0, 31_536_000],
    [-5, 31_536_000],
    [30, 30],
    [2 ** 32, 0xffff_ffff],
  ])('a lease time of %s is %d', (leaseTime, seconds) => expect(poolOf({ leaseTime }).leaseTimeSeconds).toBe(seconds));

  it('what is empty is left out', () => {
    const { options } = poolOf({ router: '', domainName: '', domainSearch: ['', 'lab.example'] });
    expect(options).toMatchObject({ domainSearch: ['lab.example'] });
    expect(options).not.toHaveProperty('router');
    expect(options).not.toHaveProperty('domainName');
  });

  it('NTP servers: addresses and what names resolve to, each once, and never more than an option holds', () => {
    const many = Array.from({ length: 100 }, (_, index) => `10.1.0.${index + 1}`);
    const resolved = new Map([
      ['time.example', ['10.0.0.5', '10.0.0.6']],
      ['many.example', many],
    ]);
    const addresses = poolOf({ ntp: ['10.0.0.5', 'time.example', 'unknown.example'] }, resolved).options.ntpServers;
    expect(addresses.map(formatIpv4Address)).toEqual(['10.0.0.5', '10.0.0.6']);
    expect(poolOf({ ntp: ['many.example'] }, resolved).options.ntpServers).toHaveLength(63);
  });

  it('relays outside the subnet are those that it names', () => {
    expect(poolOf({}).relays).toEqual([]);
    const { relays } = poolOf({ relays: ['192.0.2.1', '198.51.100.0/24'] });
    expect(relays.map(formatIpv4Cidr)).toEqual(['192.0.2.1/32', '198.51.100.0/24']);
    const checked = toPool(objectOf({ relays: ['192.0.2.1', 'router'] }));
    expect(checked.ok ? [] : checked.problems.map(({ path }) => path.join('.'))).toEqual(['spec.ipv4Config.relays.1']);
  });

  it('an NTP server that is neither an address nor a host name is a problem', () => {
    const checked = toPool(objectOf({ ntp: ['10.0.0.5', 'time.example', 'not a host!', '10.0.0.256', ''] }));
    expect(checked.ok ? [] : checked.problems.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
      'spec.ipv4Config.ntp.2: "not a host!" is neither an IPv4 address nor a host name',
      'spec.ipv4Config.ntp.3: "10.0.0.256" is neither an IPv4 address nor a host name',
      'spec.ipv4Config.ntp.4: "" is neither an IPv4 address nor a host name',
    ]);
  });

  it('problems name the place in the object', () => {
    const checked = toPool(
      objectOf({ serverIP: '10.0.9.1', bootfile: 'with space', pool: { start: '10.0.0.10', end: '10.0.0.5' } }),
    );
    const paths = checked.ok ? [] : checked.problems.map(({ path }) => path.join('.'));
    expect(paths.toSorted()).toEqual(['spec.ipv4Config.bootfile', 'spec.ipv4Config.pool.end', 'spec.ipv4Config.serverIP']);
  });

  it('without IPv4 settings it is none', () => {
    const checked = toPool({ ...objectOf(), spec: { networkName: 'default/net' } });
    expect(checked.ok ? [] : checked.problems.map(({ reason }) => reason)).toEqual(['ipv4-config-missing']);
  });
});
