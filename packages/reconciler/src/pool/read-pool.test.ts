import { ipPool } from '@vmdhcp/ippool-api';
import { expect, it } from 'vitest';
import { pool } from '../fixtures/object-fixtures.js';
import { readPool } from './read-pool.js';

/** What the CRD of this version lets be stored, made of settings that affect no address of a client. */
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

it('an NTP server that makes no sense is left out with a warning, and the others are not', () => {
  const read = readPool(pool('p', { ipv4Config: { ntp: ['not a host!', '10.0.0.5'] } }));
  expect(read.ok && read.pool.options.ntpServers).toEqual([0x0a000005]);
  expect(read.ok && read.warnings).toEqual([expect.stringContaining('spec.ipv4Config.ntp[0]: "not a host!" is neither')]);
});
