import type { Problem } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { IPv6Config } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { pool } from '../fixtures/object-fixtures.js';
import { checkPool } from './check-pool.js';
import { readPool } from './read-pool.js';

const UID = '8e3ad0f2-6c1e-4c2b-9a55-0d6a3b1f7c10';
/** The server of each subnet: a /31 has no network address. */
const SERVERS: Readonly<Record<string, string>> = { '10.0.0.0/31': '10.0.0.0', '10.0.0.0/24': '10.0.0.2' };
const CIDR = '2001:db8:48::/64';

function objectOf(ipv6Config: Partial<IPv6Config>, subnet?: string) {
  const ipv4Config =
    subnet === undefined ? {} : { cidr: subnet, serverIP: SERVERS[subnet], pool: { start: '10.0.0.1', end: '10.0.0.1' } };
  const object = pool('p', { ipv4Config });
  const spec = { ...(object.spec as object), ipv6Config: { cidr: CIDR, ...ipv6Config } };
  return { ...object, metadata: { ...object.metadata, uid: UID }, spec };
}

function problemsOf(ipv6Config: Partial<IPv6Config>, subnet?: string): string[] {
  const checked = checkPool(objectOf(ipv6Config, subnet));
  return checked.ok ? [] : checked.problems.map(toText);
}

function toText({ path, message, remedy }: Problem): string {
  return `${path.slice(2).join('.')}: ${message}; ${remedy}`;
}

describe('the IPv6 part of an IPPool', () => {
  it('has the options, the lifetimes, and the identifier that every agent of the pool uses', () => {
    const checked = checkPool(
      objectOf({ dns: ['2001:db8:48::53'], domainSearch: ['lab.example'], ntp: ['2001:db8:48::7b'], leaseTime: 1_000 }),
    );
    const { prefix, options, serverIdentifier, ...rest } = (checked.ok && checked.pool.dhcpv6) || {};
    expect(rest).toMatchObject({ validLifetimeSeconds: 1_000, preferredLifetimeSeconds: 750, rapidCommit: true, relays: [] });
    expect([formatIpv6Address(prefix?.network ?? 0n), prefix?.prefixLength]).toEqual(['2001:db8:48::', 64]);
    expect(Buffer.from(serverIdentifier ?? []).toString('hex')).toBe(`0004${UID.replaceAll('-', '')}`);
    expect(options?.domainSearch).toEqual(['lab.example']);
    expect([options?.dnsServers, options?.ntpServers].flat().map((one) => formatIpv6Address(one ?? 0n))).toEqual([
      '2001:db8:48::53',
      '2001:db8:48::7b',
    ]);
  });

  it('gives addresses by two messages to clients that ask for it, unless spec.rapidCommit is false', () => {
    const poolWith = (rapidCommit: boolean | undefined) => {
      const object = objectOf({});
      const checked = checkPool({ ...object, spec: { ...object.spec, rapidCommit } });
      return checked.ok && [checked.pool.rapidCommit, checked.pool.dhcpv6?.rapidCommit];
    };
    expect([undefined, true, false].map(poolWith)).toEqual([
      [false, true],
      [true, true],
      [false, false],
    ]);
  });

  it('lasts a day unless it says for how long', () => {
    const checked = checkPool(objectOf({}));
    expect(checked.ok && checked.pool.dhcpv6).toMatchObject({ validLifetimeSeconds: 86_400, preferredLifetimeSeconds: 64_800 });
  });

  it('is absent if nothing is said about IPv6', () => {
    const checked = checkPool(pool('p'));
    expect(checked.ok && checked.pool.dhcpv6).toBeUndefined();
  });

  const PREFIX = 'is not a prefix of global or unique local addresses; write one, as in fd00:48::/64';
  it.each<[string, Partial<IPv6Config>, string | undefined, readonly string[]]>([
    ['link-local', { cidr: 'fe80::/64' }, undefined, [`cidr: "fe80::/64" ${PREFIX}`]],
    ['multicast', { cidr: 'ff02::/64' }, undefined, [`cidr: "ff02::/64" ${PREFIX}`]],
    ['an address of a host', { cidr: '2001:db8::1/64' }, undefined, [`cidr: "2001:db8::1/64" ${PREFIX}`]],
    ['larger than all global addresses', { cidr: '2000::/2' }, undefined, [`cidr: "2000::/2" ${PREFIX}`]],
    ['of the usual length for a site', { cidr: '2001:db8::/48' }, undefined, []],
    [
      'larger than a site',
      { cidr: '2001:db8::/47' },
      undefined,
      ['cidr: "2001:db8::/47" is larger than the network of a site; write a prefix length of 48 or more'],
    ],
    ['misspelled', { cidr: '2001:db8:::/64' }, undefined, [`cidr: "2001:db8:::/64" ${PREFIX}`]],
    ['of the same size', { cidr: '2001:db8::/120' }, '10.0.0.0/24', []],
    [
      'smaller than the subnet',
      { cidr: '2001:db8::/121' },
      '10.0.0.0/24',
      ['cidr: "2001:db8::/121" has fewer addresses than ipv4Config.cidr; write a prefix length of 120 or less'],
    ],
    [
      'beside a /31',
      {},
      '10.0.0.0/31',
      [`cidr: "${CIDR}" does not fit a /31 or /32; remove ipv6Config, or use a larger ipv4Config.cidr`],
    ],
  ])('has a prefix for the hosts of the subnet: %s', (_, config, subnet, problems) => {
    expect(problemsOf(config, subnet)).toEqual(problems);
  });

  it('has routers with link-local addresses', () => {
    expect(problemsOf({ routers: ['fe80::1', 'febf::1', 'fec0::1', '2001:db8::1'] })).toEqual(
      ['2: "fec0::1"', '3: "2001:db8::1"'].map(
        (which) =>
          `routers.${which} is not a link-local IPv6 address; write the address from which the router sends Router Advertisements, as in fe80::1`,
      ),
    );
  });

  it('has routers if agents shall make a default route to them', () => {
    const wanted = { routerAdvertisements: 'DefaultRoute' } as const;
    for (const routers of [{}, { routers: [] }])
      expect(problemsOf({ ...wanted, ...routers })).toEqual([
        'routerAdvertisements: "DefaultRoute" makes a default route to each of routers, which names none; write the link-local address of the router into ipv6Config.routers, as in [fe80::1], or write Assist',
      ]);
    const routersOf = (config: Partial<IPv6Config>) => {
      const read = readPool(objectOf(config));
      return read.ok ? read.pool.dhcpv6?.defaultRouters : undefined;
    };
    const routers = ['fe80::1', 'fe80::2'];
    expect(routersOf({ ...wanted, routers })).toEqual(routers.map((text) => parseIpv6Address(text)));
    expect(routersOf({ routers })).toEqual([]);
    expect(routersOf({ ...wanted, routers: [':::'] })).toEqual([]);
  });

  const NAT64 =
    'is not the prefix of a NAT64: either 64:ff9b::/96, or a prefix of the site outside of cidr, 32, 40, 48, 56, 64 or 96 bits long, with bits 64 to 71 zero; write the prefix that the translator has, as in 64:ff9b::/96';
  it.each<[string, boolean]>([
    ['64:ff9b::/96', true],
    ['64:ff9b:1::/96', true],
    ['64:ff9b:1:ffff::/64', true],
    ['2001:db8:64::/64', true],
    ['fd00:64::/96', true],
    ['2001:db9::/32', true],
    ['64:ff9b::/64', false],
    ['2001:db8:64::/95', false],
    ['64:ff9b::1/96', false],
    ['2001:db8:64:0:ff00::/96', false],
    ['64:ff9b:::/96', false],
    ['::/96', false],
    ['fe80::/64', false],
    ['ff02::/96', false],
    ['2001:db8:48::/96', false],
    ['2001:db8::/32', false],
  ])('RFC 6052 §2.2: has the prefix of a NAT64: %s', (nat64Prefix, isOne) => {
    expect(problemsOf({ nat64Prefix })).toEqual(isOne ? [] : [`nat64Prefix: "${nat64Prefix}" ${NAT64}`]);
    // Served with IPv6 nevertheless, and without that prefix.
    const reading = readPool(objectOf({ nat64Prefix }));
    const { prefix, nat64Prefix: read } = (reading.ok && reading.pool.dhcpv6) || {};
    expect([formatIpv6Address(prefix?.network ?? 0n), read !== undefined]).toEqual(['2001:db8:48::', isOne]);
  });

  it('says for how long clients do without IPv4, unless there is no IPv6', () => {
    const waitOf = (ipv6Config: Partial<IPv6Config>) => {
      const reading = readPool(objectOf(ipv6Config));
      return reading.ok && [reading.pool.options.ipv6OnlyWaitSeconds, reading.pool.dhcpv6 !== undefined];
    };
    expect([{}, { ipv6OnlyWait: 300 }, { ipv6OnlyWait: 5 }, { ipv6OnlyWait: 300, cidr: 'fe80::/64' }].map(waitOf)).toEqual([
      [undefined, true],
      [300, true],
      [undefined, true],
      [undefined, false],
    ]);
  });

  it('has addresses and names in its options', () => {
    expect(problemsOf({ dns: ['2001:db8::53', '1::2::3'], ntp: [':::'], domainSearch: ['a.example', '-b'] })).toEqual([
      'dns.1: "1::2::3" is not an IPv6 address; write it as in 2001:db8:48::53',
      'ntp.0: ":::" is not an IPv6 address; write it as in 2001:db8:48::53',
      'domainSearch.1: "-b" is not a domain name; write it as in lab.example.org',
    ]);
  });
});

describe('the servers that an IPPool names', () => {
  const exclude = (text: string) => ({ pool: { start: '10.0.0.10', end: '10.0.0.99', exclude: [text] } });
  const isClient = (server: string) =>
    `cidr: "${CIDR}" makes ${server}, which dns or ntp names, the address of the client that gets 10.0.0.83; exclude 10.0.0.83 in ipv4Config.pool.exclude, or reserve it for that server`;
  const reservations = [{ macAddress: '02:00:00:00:00:0a', ipAddress: '10.0.0.83' }];

  it.each<[string, Partial<IPv6Config>, object, readonly string[]]>([
    ['a name server', { dns: ['2001:db8:48::5353', '2001:db8:48::53'] }, {}, [isClient('2001:db8:48::53')]],
    ['a time server', { ntp: ['2001:db8:48::53'] }, {}, [isClient('2001:db8:48::53')]],
    ['one whose IPv4 address is excluded', { dns: ['2001:db8:48::53'] }, exclude('10.0.0.83'), []],
    ['one that has its address by a reservation', { dns: ['2001:db8:48::53'] }, { reservations }, []],
    ['one outside of the range', { dns: ['2001:db8:48::9', '2001:db8:48::64'] }, {}, []],
    ['one in another prefix', { dns: ['2001:db8::53', 'fd00::53'] }, {}, []],
  ])('have addresses that no client gets: %s', (_, ipv6Config, ipv4Config, problems) => {
    const settings = { cidr: '10.0.0.0/24', serverIP: '10.0.0.2', pool: { start: '10.0.0.10', end: '10.0.0.99' } };
    const { spec, ...object } = pool('p', { ipv4Config: { ...settings, ...ipv4Config } });
    const checked = checkPool({ ...object, spec: { ...(spec as object), ipv6Config: { cidr: CIDR, ...ipv6Config } } });
    expect(checked.ok ? [] : checked.problems.map(toText)).toEqual(problems);
    // The reason `ipv6-server-is-client`.
    expect(checked.ok || checked.problems.every(({ reason }) => reason === 'ipv6-server-is-client')).toBe(true);
  });

  it('and search domains fit a packet', () => {
    const names = (count: number) => Array.from({ length: count }, (_, index) => `team-${index + 10}.department.example.org`);
    expect(problemsOf({ domainSearch: names(16) })).toEqual([]);
    expect(problemsOf({ domainSearch: names(17) })).toEqual([
      expect.stringMatching(/^domainSearch: .* has 544 octets in all; write names of 512 octets at most$/),
    ]);
  });
});

describe('a stored pool with a mistake in its IPv6 part', () => {
  it.each<[string, Partial<IPv6Config>, boolean, string]>([
    ['a wrong address of a router is left out', { routers: [':::'] }, true, 'spec.ipv6Config.routers[0]'],
    ['a wrong name server is left out', { dns: [':::'] }, true, 'spec.ipv6Config.dns[0]'],
    [
      'many wrong names are left out',
      { domainSearch: Array.from({ length: 64 }, () => '-') },
      true,
      'spec.ipv6Config.domainSearch[0]',
    ],
    [
      'a default route to no router is left out',
      { routerAdvertisements: 'DefaultRoute' },
      true,
      'spec.ipv6Config.routerAdvertisements',
    ],
    ['a prefix that cannot be used leaves no IPv6', { cidr: 'fe80::/64' }, false, 'spec.ipv6Config.cidr'],
    ['so does a missing one', { cidr: undefined as never }, false, 'spec.ipv6Config.cidr'],
  ])('is served by DHCP nevertheless: %s', (_, config, hasIpv6, place) => {
    const read = readPool(objectOf(config));
    if (!read.ok) throw new Error(read.problems.join());
    expect(read.pool.dhcpv6 !== undefined).toBe(hasIpv6);
    expect(read.warnings).toEqual([expect.stringContaining(`${place}: `)]);
  });
});
