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

  it('with every setting', () => {
    const boot = { nextServer: '10.0.0.5', bootfile: 'pxe.0' };
    const given = poolOf({
      pool: { start: '10.0.0.10', end: '10.0.0.99', exclude: ['10.0.0.20'] },
      reservations: [
        { macAddress: '02:00:00:00:00:0a', ipAddress: '10.0.0.30', hostname: 'a' },
        { macAddress: '02:00:00:00:00:0b', ipAddress: '10.0.0.31' },
      ],
      authoritative: true,
      router: '10.0.0.254',
      dns: ['10.0.0.53'],
      domainName: 'lab.example',
      mtu: 1400,
      staticRoutes: [{ destination: '10.9.0.0/16', gateway: '10.0.0.9' }],
      ...boot,
      bootByArchitecture: [{ architecture: 7, ...boot }, { architecture: 11 }],
      options: [{ code: 252, value: 'http://wpad.example/wpad.dat' }],
    });
    expect([...given.options.byCode]).toEqual([[252, new TextEncoder().encode('http://wpad.example/wpad.dat')]]);
    const [nextServer, bootFile] = [0x0a000005, 'pxe.0'];
    expect(given).toMatchObject({
      serverAddress: 0x0a000001,
      range: { first: 0x0a00000a, last: 0x0a000063 },
      authoritative: true,
    });
    expect(given.unavailable).toContainEqual({ first: 0x0a000014, last: 0x0a000014 });
    expect([...given.reservations.values()]).toEqual([
      { macAddress: '02:00:00:00:00:0a', address: 0x0a00001e, hostname: 'a' },
      { macAddress: '02:00:00:00:00:0b', address: 0x0a00001f },
    ]);
    expect(given.options).toMatchObject({
      router: 0x0a0000fe,
      dnsServers: [0x0a000035],
      domainName: 'lab.example',
      mtu: 1400,
      staticRoutes: [{ gateway: 0x0a000009 }],
      nextServer,
      bootFile,
    });
    expect([...given.options.bootByArchitecture]).toEqual([
      [7, { nextServer, bootFile }],
      [11, {}],
    ]);
  });

  it('an empty server, start and end are omitted, so they have their defaults', () => {
    expect(poolOf({ serverIP: '', router: '10.0.0.1', pool: { start: '', end: '' } })).toMatchObject({
      serverAddress: 0x0a000002,
      range: { first: 0x0a000001, last: 0x0a0000fe },
    });
  });

  it('empty settings are omitted', () => {
    const { options } = poolOf({ router: '', domainName: '', domainSearch: ['', 'lab.example'] });
    expect(options).toMatchObject({ domainSearch: ['lab.example'] });
    expect(options).not.toHaveProperty('router');
    expect(options).not.toHaveProperty('domainName');
  });

  it('NTP servers: addresses and resolved names, each once, and never more than an option holds', () => {
    const many = Array.from({ length: 100 }, (_, index) => `10.1.0.${index + 1}`);
    const resolved = new Map([
      ['time.example', ['10.0.0.5', '10.0.0.6']],
      ['many.example', many],
    ]);
    const addresses = poolOf({ ntp: ['10.0.0.5', 'time.example', 'unknown.example'] }, resolved).options.ntpServers;
    expect(addresses.map(formatIpv4Address)).toEqual(['10.0.0.5', '10.0.0.6']);
    expect(poolOf({ ntp: ['many.example'] }, resolved).options.ntpServers).toHaveLength(63);
  });

  it('relays outside the subnet are those in the settings', () => {
    expect(poolOf({}).relays).toEqual([]);
    const { relays } = poolOf({ relays: ['192.0.2.1', '198.51.100.0/24'] });
    expect(relays.map(formatIpv4Cidr)).toEqual(['192.0.2.1/32', '198.51.100.0/24']);
  });

  it('an NTP server that is neither an address nor a host name is a problem', () => {
    const checked = toPool(
      objectOf({ ntp: ['10.0.0.5', 'time.example', '0.pool.example', 'time1', 'not a host!', '10.0.0.256', ''] }),
    );
    expect(checked.ok ? [] : checked.problems.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
      'spec.ipv4Config.ntp.4: "not a host!" is neither an IPv4 address nor a host name',
      'spec.ipv4Config.ntp.5: "10.0.0.256" is neither an IPv4 address nor a host name',
      'spec.ipv4Config.ntp.6: "" is neither an IPv4 address nor a host name',
    ]);
  });

  it.each<[settings: Partial<IPv4Config>, path: string]>([
    [{ cidr: '10.0.0.0/33' }, 'cidr'],
    [{ serverIP: '10.0.9.1' }, 'serverIP'],
    [{ router: '10.0.9.1' }, 'router'],
    [{ pool: { start: 'x', end: '10.0.0.99' } }, 'pool.start'],
    [{ pool: { start: '10.0.0.10', end: 'x' } }, 'pool.end'],
    [{ pool: { start: '10.0.0.10', end: '10.0.0.99', exclude: ['10.0.0.20', 'x'] } }, 'pool.exclude.1'],
    [{ reservations: [{ macAddress: 'x', ipAddress: '10.0.0.30' }] }, 'reservations.0.macAddress'],
    [{ reservations: [{ macAddress: '02:00:00:00:00:0a', ipAddress: 'x' }] }, 'reservations.0.ipAddress'],
    [{ leaseTime: 1.5 }, 'leaseTime'],
    [{ relays: ['192.0.2.1', 'router'] }, 'relays.1'],
    [{ dns: ['10.0.0.53', 'x'] }, 'dns.1'],
    [{ ntp: ['time.example'] }, 'ntp.0'],
    [{ mtu: 1 }, 'mtu'],
    [{ bootfile: 'with space' }, 'bootfile'],
    [{ staticRoutes: [{ destination: 'x', gateway: '10.0.0.9' }] }, 'staticRoutes.0.destination'],
    [{ bootByArchitecture: [{ architecture: 7, bootfile: 'with space' }] }, 'bootByArchitecture.0.bootfile'],
    [{ options: [{ code: 6, value: '10.0.0.53' }] }, 'options.0.code'],
    [{ options: [{ code: 44, value: 'x' }] }, 'options.0.value'],
  ])('a problem names the place in the object: %j', (settings, path) => {
    const checked = toPool(objectOf(settings), new Map([['time.example', ['x']]]));
    expect(checked.ok ? [] : checked.problems.map((problem) => problem.path.join('.'))).toEqual([`spec.ipv4Config.${path}`]);
  });

  it('problems of NTP servers are listed beside the others', () => {
    const checked = toPool(objectOf({ ntp: ['!'], mtu: 1 }));
    expect(checked.ok ? [] : checked.problems.map(({ path }) => path.join('.'))).toEqual([
      'spec.ipv4Config.mtu',
      'spec.ipv4Config.ntp.0',
    ]);
  });

  it('an IPPool without IPv4 settings is not a pool', () => {
    const checked = toPool({ ...objectOf(), spec: { networkName: 'default/net' } });
    expect(checked).toMatchObject({ ok: false, problems: [{ reason: 'ipv4-config-missing', path: ['spec', 'ipv4Config'] }] });
  });
});
