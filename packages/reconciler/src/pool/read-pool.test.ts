import { ipPool } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { pool } from '../fixtures/object-fixtures.js';
import { readPool } from './read-pool.js';

/** Settings that the CRD of this version accepts and that do not affect addresses of clients. */
it.each<[string, Record<string, unknown>]>([
  ['domainSearch label', { domainSearch: ['-bad-.example.com'] }],
  [
    'domainSearch long',
    {
      domainSearch: Array.from({ length: 60 }, (_, i) => `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(58)}${i}.example.com`),
    },
  ],
  ['domainName', { domainName: 'a-.b' }],
  ['domainName 2', { domainName: 'a'.repeat(64) }],
  ['ntp name', { ntp: ['-a-'] }],
  ['ntp no name', { ntp: ['not a host!', '10.0.0.5', '300.1.1.1'] }],
  ['bootfile empty', { bootfile: '' }],
  ['bootfile 127', { bootfile: 'x'.repeat(128) }],
  ['bootfile unicode', { bootfile: 'ü'.repeat(100) }],
  ['bootfile nul', { bootfile: 'a\u0000b' }],
  ['nextServer multicast', { nextServer: '224.0.0.1' }],
  ['dns 0', { dns: ['0.0.0.0'] }],
  ['dns bc', { dns: ['255.255.255.255'] }],
  ['dns twice', { dns: ['10.0.0.1', '10.0.0.1'] }],
  ['arch empty', { bootByArchitecture: [{ architecture: 7 }] }],
  ['arch next', { bootByArchitecture: [{ architecture: 7, nextServer: '0.0.0.0' }] }],
  ['routes', { staticRoutes: [{ destination: '10.9.0.1/16', gateway: '10.0.0.1' }] }],
  ['routes gw', { staticRoutes: [{ destination: '10.9.0.0/16', gateway: '0.0.0.0' }] }],
  ['routes default', { staticRoutes: [{ destination: '0.0.0.0/0', gateway: '10.0.0.9' }] }],
  [
    'routes twice',
    {
      staticRoutes: [
        { destination: '10.9.0.0/16', gateway: '10.0.0.9' },
        { destination: '10.9.0.0/16', gateway: '10.0.0.8' },
      ],
    },
  ],
  [
    'routes 30',
    { staticRoutes: Array.from({ length: 30 }, (_, i) => ({ destination: `10.9.${i}.128/32`, gateway: '10.0.0.9' })) },
  ],
  ['mtu', { mtu: 68 }],
  ['lease', { leaseTime: 2 ** 53 - 1 }],
  ['lease 1', { leaseTime: 1 }],
  ['lease -1', { leaseTime: -1 }],
])('stored and optional, so the pool is served: %s', (_, ipv4Config) => {
  const object = { ...pool('p', { ipv4Config }) };
  const passes = ipPool.safeParse(object).success;
  const read = readPool(object);
  expect({ passes, read: read.ok ? 'ok' : read.problems }, `CRD lets pass: ${passes}`).toMatchObject({ read: 'ok' });
});

it('only an invalid NTP server is ignored, with a warning', () => {
  const read = readPool(pool('p', { ipv4Config: { ntp: ['not a host!', '10.0.0.5'] } }));
  expect(read.ok && read.pool.options.ntpServers).toEqual([0x0a000005]);
  expect(read.ok && read.warnings).toEqual([expect.stringContaining('spec.ipv4Config.ntp[0]: "not a host!" is neither')]);
});

/** Where a problem is, of its message. */
const placeOf = (message: string) => message.slice(0, message.indexOf(': '));
const OPTIONAL =
  'dns domainName domainSearch ntp leaseTime mtu relays authoritative staticRoutes nextServer bootfile bootByArchitecture';

describe('invalid settings are ignored, each with a warning', () => {
  const [ADDRESS, OTHER] = [0x0a000035, 0x0a000036];

  it.each<[what: string, ipv4Config: Record<string, unknown>, options: object, warned: readonly string[]]>([
    ['nothing', { dns: ['10.0.0.53'] }, { dnsServers: [ADDRESS] }, []],
    ['an entry of a list', { dns: ['10.0.0.53', 'x', '10.0.0.54'] }, { dnsServers: [ADDRESS, OTHER] }, ['dns[1]']],
    ['two entries of a list', { dns: ['x', 'y', '10.0.0.54'] }, { dnsServers: [OTHER] }, ['dns[0]', 'dns[0]']],
    ['an invalid list', { dns: 'x' }, { dnsServers: [] }, ['dns']],
    ['a list that is too long', { dns: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'] }, { dnsServers: [] }, ['dns']],
    [
      'an entry that only the rules of a pool refuse',
      { staticRoutes: [{ destination: '10.9.0.1/16', gateway: '10.0.0.9' }] },
      { staticRoutes: [] },
      ['staticRoutes[0].destination'],
    ],
    ['several', { mtu: 1, domainName: 'a b', dns: ['x'] }, { dnsServers: [] }, ['dns[0]', 'mtu', 'domainName']],
  ])('%s', (_what, ipv4Config, options, warned) => {
    const read = readPool(pool('p', { ipv4Config }));
    expect(read).toMatchObject({ ok: true, pool: { options } });
    expect(read.ok && read.warnings.map(placeOf)).toEqual(warned.map((path) => `spec.ipv4Config.${path}`));
  });

  it.each(OPTIONAL.split(' '))('%s of a type that is not allowed', (setting) => {
    const read = readPool(pool('p', { ipv4Config: { [setting]: { a: 1 } } }));
    expect(read).toMatchObject({ ok: true, warnings: [expect.stringContaining(`spec.ipv4Config.${setting}: `)] });
    expect(read.ok && read.object.spec.ipv4Config).not.toHaveProperty(setting);
  });

  it('rapidCommit of a type that is not allowed', () => {
    const object = pool('p');
    const read = readPool({ ...object, spec: { ...(object.spec as object), rapidCommit: 'yes' } });
    expect(read).toMatchObject({ ok: true, warnings: [expect.stringContaining('spec.rapidCommit: ')] });
  });

  it('an entry of a list with a wrong field is ignored as a whole', () => {
    const bootByArchitecture = [
      { architecture: 7, bootfile: 'a', nextServer: 'x' },
      { architecture: 11, bootfile: 'b' },
    ];
    const read = readPool(pool('p', { ipv4Config: { bootByArchitecture } }));
    expect(read.ok && [...read.pool.options.bootByArchitecture]).toEqual([[11, { bootFile: 'b' }]]);
    expect(read.ok && read.warnings.map(placeOf)).toEqual(['spec.ipv4Config.bootByArchitecture[0].nextServer']);
  });

  it('at most 64', () => {
    const domainSearch = Array.from({ length: 64 }, () => '-');
    expect(readPool(pool('p', { ipv4Config: { domainSearch } }))).toMatchObject({ ok: true, warnings: { length: 64 } });
    expect(readPool(pool('p', { ipv4Config: { domainSearch, ntp: ['!'] } }))).toEqual({
      ok: false,
      problems: ['more than 64 settings make no sense; correct them'],
    });
  });
});

describe('a pool with invalid address settings is not served', () => {
  it('every problem is reported, including those of other settings', () => {
    const read = readPool(pool('p', { ipv4Config: { mtu: 1, serverIP: 'x', pool: { start: 'y', end: '10.0.0.19' } } }));
    expect(!read.ok && read.problems.map(placeOf)).toEqual([
      'spec.ipv4Config.serverIP',
      'spec.ipv4Config.pool.start',
      'spec.ipv4Config.mtu',
    ]);
  });

  it.each<[what: string, spec: Record<string, unknown>]>([
    ['spec', { paused: 'x' }],
    ['spec of the name of an optional setting', { ipv4Config: 'mtu' }],
    ['network', { networkName: 7 }],
    ['nodes by what is not the key of a label', { agentNodeSelector: { 'a b': 'x' } }],
    ['nodes by what is not the value of a label', { agentNodeSelector: { 'example.org/br1': 'x y' } }],
  ])('%s', (_what, spec) => {
    const object = pool('p');
    expect(readPool({ ...object, spec: { ...(object.spec as object), ...spec } }).ok).toBe(false);
  });

  it('a label is not a setting, whatever its name is', () => {
    const metadata = { name: 'p', labels: { mtu: 7 } } as unknown as KubernetesObject['metadata'];
    expect(readPool({ ...pool('p'), metadata })).toMatchObject({
      ok: false,
      problems: [expect.stringContaining('metadata.labels.mtu: ')],
    });
  });

  it.each<[string, unknown]>([
    ['a text', 'x'],
    ['a list', []],
  ])('its spec is %s', (_what, spec) => {
    expect(readPool({ ...pool('p'), spec })).toMatchObject({ ok: false, problems: [expect.stringContaining('spec: ')] });
  });
});

it('an invalid status does not keep a pool from being served', () => {
  expect(readPool({ ...pool('p'), status: { ipv4: 'x' } })).toMatchObject({ ok: true, object: { status: undefined } });
});

it('only an invalid option is ignored, with a warning', () => {
  const options = [
    { code: 44, value: 'x' },
    { code: 51, value: '60' },
    { code: 45, value: '10.0.0.5' },
  ];
  const read = readPool(pool('p', { ipv4Config: { options } }));
  expect(read.ok && [...read.pool.options.byCode]).toEqual([[45, Uint8Array.of(10, 0, 0, 5)]]);
  expect(read.ok && read.warnings).toEqual([
    expect.stringContaining('spec.ipv4Config.options[0].value: "x" is not a value of option 44'),
    expect.stringContaining('spec.ipv4Config.options[0].code: 51 (leaseTime) is set by the server'),
  ]);
});
