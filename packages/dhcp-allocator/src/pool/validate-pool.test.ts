import { describe, expect, it } from 'vitest';
import { formatIpv4Address } from '../address/ipv4-address.js';
import { formatIpv4Range } from '../address/ipv4-range.js';
import { AddressAllocator } from '../allocation/address-allocator.js';
import { describeProblem, formatPath } from '../problem.js';
import type { PoolDefinition } from './pool-definition.js';
import { validatePool } from './validate-pool.js';

const BASE: PoolDefinition = { name: 'net', cidr: '10.0.0.0/24' };

/** Where and why, for each problem. */
function problemsOf(definition: Partial<PoolDefinition>): string[] {
  const checked = validatePool({ ...BASE, ...definition });
  return checked.ok ? [] : checked.problems.map(({ path, reason }) => `${formatPath(path)} ${reason}`);
}

describe('a pool that can be served', () => {
  it.each<[what: string, definition: Partial<PoolDefinition>, server: string, range: string, size: number]>([
    ['a /24 with every default', {}, '10.0.0.1', '10.0.0.1-10.0.0.254', 253],
    ['the router is not the server', { options: { router: '10.0.0.1' } }, '10.0.0.2', '10.0.0.1-10.0.0.254', 252],
    ['a /30', { cidr: '10.0.0.0/30' }, '10.0.0.1', '10.0.0.1-10.0.0.2', 1],
    [
      'a /30 with a router: nothing is left to lease',
      { cidr: '10.0.0.0/30', options: { router: '10.0.0.1' } },
      '10.0.0.2',
      '10.0.0.1-10.0.0.2',
      0,
    ],
    ['RFC 3021: a /31 has two hosts', { cidr: '10.0.0.0/31' }, '10.0.0.0', '10.0.0.0-10.0.0.1', 1],
    ['a /32 is the server alone', { cidr: '10.0.0.7/32' }, '10.0.0.7', '10.0.0.7', 0],
    ['start = end', { start: '10.0.0.9', end: '10.0.0.9' }, '10.0.0.1', '10.0.0.9', 1],
    ['start = end = server', { start: '10.0.0.9', end: '10.0.0.9', serverAddress: '10.0.0.9' }, '10.0.0.9', '10.0.0.9', 0],
    [
      'server and router inside the range',
      { serverAddress: '10.0.0.20', start: '10.0.0.20', end: '10.0.0.29', options: { router: '10.0.0.21' } },
      '10.0.0.20',
      '10.0.0.20-10.0.0.29',
      8,
    ],
    [
      'server and router outside the range',
      { serverAddress: '10.0.0.2', start: '10.0.0.20', end: '10.0.0.29', options: { router: '10.0.0.1' } },
      '10.0.0.2',
      '10.0.0.20-10.0.0.29',
      10,
    ],
    [
      'exclusions, overlapping and outside the range',
      { start: '10.0.0.20', end: '10.0.0.29', exclude: ['10.0.0.20-10.0.0.22', '10.0.0.22', '10.0.0.200'] },
      '10.0.0.1',
      '10.0.0.20-10.0.0.29',
      7,
    ],
    [
      'everything excluded',
      { serverAddress: '10.0.0.1', start: '10.0.0.20', end: '10.0.0.21', exclude: ['10.0.0.20-10.0.0.21'] },
      '10.0.0.1',
      '10.0.0.20-10.0.0.21',
      0,
    ],
    ['excluded addresses are not the server', { exclude: ['10.0.0.1-10.0.0.9'] }, '10.0.0.10', '10.0.0.1-10.0.0.254', 244],
    ['host bits in the cidr are cleared, as upstream does', { cidr: '10.0.0.77/24' }, '10.0.0.1', '10.0.0.1-10.0.0.254', 253],
    [
      'a reservation outside start to end',
      { start: '10.0.0.20', end: '10.0.0.29', reservations: [{ macAddress: '02-00-00-00-00-0A', address: '10.0.0.200' }] },
      '10.0.0.1',
      '10.0.0.20-10.0.0.29',
      11,
    ],
    [
      'ranges in any order, overlapping, in place of start and end',
      {
        start: '10.0.0.200',
        end: '10.0.0.100',
        ranges: ['10.0.0.90-10.0.0.99', '10.0.0.20-10.0.0.24', '10.0.0.23-10.0.0.29', '10.0.0.50'],
      },
      '10.0.0.1',
      '10.0.0.20-10.0.0.99',
      21,
    ],
    [
      'an exclusion between ranges and in one',
      { ranges: ['10.0.0.20', '10.0.0.30-10.0.0.31'], exclude: ['10.0.0.25-10.0.0.30'] },
      '10.0.0.1',
      '10.0.0.20-10.0.0.31',
      2,
    ],
    ['a list of ranges without an entry', { start: '10.0.0.9', ranges: [] }, '10.0.0.1', '10.0.0.9-10.0.0.254', 246],
    ['the whole of a /8', { cidr: '10.0.0.0/8' }, '10.0.0.1', '10.0.0.1-10.255.255.254', 16_777_213],
  ])('%s', (_what, definition, server, range, size) => {
    const checked = validatePool({ ...BASE, ...definition });
    if (!checked.ok) throw new Error(checked.problems.map(describeProblem).join('\n'));
    expect(formatIpv4Address(checked.value.serverAddress)).toBe(server);
    expect(formatIpv4Range(checked.value.range)).toBe(range);
    expect(new AddressAllocator(checked.value).counts().size).toBe(size);
  });
});

describe('a pool with problems is refused, with where and why', () => {
  it.each<[what: string, definition: Partial<PoolDefinition>, problems: string[]]>([
    ['no subnet', { cidr: 'net-48' }, ['cidr not-a-cidr']],
    ['an invalid prefix length', { cidr: '10.0.0.0/33' }, ['cidr not-a-cidr']],
    ['an invalid address', { start: '10.0.0.256' }, ['start not-an-address']],
    ['start outside the subnet', { start: '10.0.1.1', end: '10.0.1.9' }, ['start outside-subnet', 'end outside-subnet']],
    [
      'network and broadcast address',
      { start: '10.0.0.0', end: '10.0.0.255' },
      ['start is-network-address', 'end is-broadcast-address'],
    ],
    ['a server that is the network address', { serverAddress: '10.0.0.0' }, ['serverAddress is-network-address']],
    ['a server outside', { serverAddress: '10.0.1.1' }, ['serverAddress outside-subnet']],
    ['a router that is the broadcast address', { options: { router: '10.0.0.255' } }, ['options.router is-broadcast-address']],
    [
      'server and router the same',
      { serverAddress: '10.0.0.1', options: { router: '10.0.0.1' } },
      ['serverAddress server-is-router'],
    ],
    ['start after end', { start: '10.0.0.9', end: '10.0.0.5' }, ['end range-reversed']],
    ['an exclusion outside the subnet', { exclude: ['10.0.0.5', '10.0.9.5'] }, ['exclude[1] outside-subnet']],
    ['an invalid exclusion', { exclude: ['all', '10.0.0.9-10.0.0.5'] }, ['exclude[0] not-a-range', 'exclude[1] not-a-range']],
    [
      'no address left for the server',
      { cidr: '10.0.0.0/30', exclude: ['10.0.0.1-10.0.0.2'] },
      ['serverAddress no-server-address-left'],
    ],
    ['a lease time of 0', { leaseTimeSeconds: 0 }, ['leaseTimeSeconds number-out-of-bounds']],
    ['a lease time of half a second', { leaseTimeSeconds: 0.5 }, ['leaseTimeSeconds number-out-of-bounds']],
    [
      'invalid relays',
      { relays: ['192.0.2.1', '192.0.2.0/24', '192.0.2.0/33', 'router', ''] },
      ['relays[2] not-a-cidr', 'relays[3] not-a-cidr', 'relays[4] not-a-cidr'],
    ],
    ['33 relays', { relays: Array.from({ length: 33 }, (_, index) => `192.0.2.${index}`) }, ['relays too-many']],
    ['an MTU below 68', { options: { mtu: 67 } }, ['options.mtu number-out-of-bounds']],
    [
      'a reservation for a group address',
      { reservations: [{ macAddress: '01:00:5e:00:00:01', address: '10.0.0.9' }] },
      ['reservations[0].macAddress not-a-mac-address'],
    ],
    [
      'a reservation of the server',
      { serverAddress: '10.0.0.5', reservations: [{ macAddress: '02:00:00:00:00:01', address: '10.0.0.5' }] },
      ['reservations[0].address reservation-in-use'],
    ],
    [
      'a reservation of the router',
      { options: { router: '10.0.0.5' }, reservations: [{ macAddress: '02:00:00:00:00:01', address: '10.0.0.5' }] },
      ['reservations[0].address reservation-in-use'],
    ],
    [
      'a reservation that is excluded',
      { exclude: ['10.0.0.5'], reservations: [{ macAddress: '02:00:00:00:00:01', address: '10.0.0.5' }] },
      ['reservations[0].address reservation-in-use'],
    ],
    [
      'an address reserved twice',
      {
        reservations: [
          { macAddress: '02:00:00:00:00:01', address: '10.0.0.5' },
          { macAddress: '02:00:00:00:00:02', address: '10.0.0.5' },
        ],
      },
      ['reservations[1].address address-reserved-twice'],
    ],
    [
      'a client with two reservations, in two spellings',
      {
        reservations: [
          { macAddress: '02:00:00:00:00:0a', address: '10.0.0.5' },
          { macAddress: '0200.0000.000A', address: '10.0.0.6' },
        ],
      },
      ['reservations[1].macAddress mac-reserved-twice'],
    ],
    ['a subnet that no host can be in', { cidr: '224.0.0.0/8' }, ['cidr not-a-host-address']],
    [
      'boot settings for one architecture twice',
      {
        options: {
          bootByArchitecture: [
            { architecture: 7, bootFile: 'a' },
            { architecture: 7, bootFile: 'b' },
          ],
        },
      },
      ['options.bootByArchitecture[1].architecture architecture-twice'],
    ],
    [
      'static routes: host bits in the destination, a gateway outside the subnet, a gateway that cannot be a host',
      {
        options: {
          staticRoutes: [
            { destination: '10.9.0.1/8', gateway: '10.9.9.9' },
            { destination: '10.9.0.0/16', gateway: '10.0.0.255' },
            { destination: '10.9.0.0', gateway: '10.0.0' },
          ],
        },
      },
      [
        'options.staticRoutes[0].destination host-bits-set',
        'options.staticRoutes[2].destination not-a-cidr',
        'options.staticRoutes[2].gateway not-an-address',
        'options.staticRoutes[0].gateway outside-subnet',
        'options.staticRoutes[1].gateway is-broadcast-address',
      ],
    ],
    ['a range wider than a /8', { cidr: '96.0.0.0/7', serverAddress: '96.0.0.1' }, ['cidr range-too-large']],
    [
      'invalid names',
      { options: { domainName: 'not a name', domainSearch: ['ok.example', '-bad'] } },
      ['options.domainName not-a-host-name', 'options.domainSearch[1] not-a-host-name'],
    ],
    [
      'everything at once',
      { serverAddress: 'x', start: '10.0.0.0', exclude: ['y'], leaseTimeSeconds: -1, options: { router: '10.9.9.9', mtu: 1 } },
      [
        'leaseTimeSeconds number-out-of-bounds',
        'serverAddress not-an-address',
        'exclude[0] not-a-range',
        'options.mtu number-out-of-bounds',
        'start is-network-address',
        'options.router outside-subnet',
      ],
    ],
  ])('%s', (_what, definition, problems) => {
    expect(problemsOf(definition)).toEqual(problems);
  });

  it('RFC 3442: a route may be on the link, or to one host', () => {
    const staticRoutes = [
      { destination: '10.9.0.0/16', gateway: '0.0.0.0' },
      { destination: '10.8.0.1/32', gateway: '10.0.0.7' },
    ];
    expect(problemsOf({ options: { staticRoutes } })).toEqual([]);
  });

  it('each problem names field, value and remedy', () => {
    const checked = validatePool({ ...BASE, exclude: ['10.0.1.7'] });
    expect(checked.ok ? [] : checked.problems.map(describeProblem)).toEqual([
      'exclude[0]: 10.0.1.7 is outside 10.0.0.0/24; remove it or widen the cidr',
    ]);
  });
});

it.each([
  ['a year', {}, 31_536_000],
  ['seven days if unknown clients may lease addresses', { dynamic: ['10.0.0.10-10.0.0.19'] }, 604_800],
  ['what is written', { dynamic: ['10.0.0.10-10.0.0.19'], leaseTimeSeconds: 60 }, 60],
])('a lease lasts %s', (_title, definition, expected) => {
  const checked = validatePool({ ...BASE, ...definition });
  expect(checked.ok && checked.value.leaseTimeSeconds).toBe(expected);
});

describe('dynamic addresses: those that unknown clients may lease', () => {
  it.each<[string, Partial<PoolDefinition>, string]>([
    ['none by default', {}, ''],
    ['ranges are merged', { dynamic: ['10.0.0.20-10.0.0.29', '10.0.0.10-10.0.0.19'] }, '10.0.0.10-10.0.0.29'],
    ['also outside start to end', { start: '10.0.0.50', dynamic: ['10.0.0.10-10.0.0.19'] }, '10.0.0.10-10.0.0.19'],
    [
      'without what is excluded, reserved, or the address of server, router or network',
      {
        ...{ dynamic: ['10.0.0.0-10.0.0.9'], exclude: ['10.0.0.3-10.0.0.4'], options: { router: '10.0.0.2' } },
        reservations: [{ macAddress: '02:00:00:00:00:01', address: '10.0.0.7' }],
      },
      '10.0.0.5-10.0.0.6 10.0.0.8-10.0.0.9',
    ],
  ])('%s', (_what, definition, expected) => {
    const checked = validatePool({ ...BASE, serverAddress: '10.0.0.1', ...definition });
    expect(checked.ok && checked.value.dynamic.map(formatIpv4Range).join(' ')).toBe(expected);
  });

  it('every problem at once', () => {
    expect(problemsOf({ dynamic: ['10.0.1.10', '10.0.0.9-10.0.0.5', '999.0.0.1'] })).toEqual([
      'dynamic[1] not-a-range',
      'dynamic[2] not-a-range',
      'dynamic[0] outside-subnet',
    ]);
    expect(problemsOf({ cidr: '10.0.0.0/7', end: '10.0.0.9', dynamic: ['10.0.0.10', '11.255.0.1'] })).toEqual([
      'dynamic range-too-large',
    ]);
  });
});
