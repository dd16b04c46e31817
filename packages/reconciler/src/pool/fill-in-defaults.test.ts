import { describe, expect, it } from 'vitest';
import { fillInDefaults } from './fill-in-defaults.js';

const poolOf = (ipv4Config: Record<string, unknown>) => ({
  kind: 'IPPool',
  metadata: { name: 'net' },
  spec: { networkName: 'default/net', ipv4Config },
});

function filled(ipv4Config: Record<string, unknown>): unknown[] {
  const { spec } = fillInDefaults(poolOf(ipv4Config)) as {
    spec: { ipv4Config: { serverIP?: string; pool?: { start?: string; end?: string } } };
  };
  const { serverIP, pool } = spec.ipv4Config;
  return [pool?.start, pool?.end, serverIP];
}

describe('optional fields of an IPPool', () => {
  it.each<[what: string, ipv4Config: Record<string, unknown>, start: unknown, end: unknown, server: unknown]>([
    ['a /24', { cidr: '192.168.0.0/24' }, '192.168.0.1', '192.168.0.254', '192.168.0.1'],
    [
      'empty texts',
      { cidr: '192.168.0.0/24', serverIP: '', pool: { start: '', end: '' } },
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
    ['a /30 with a router', { cidr: '10.0.0.128/30', router: '10.0.0.129' }, '10.0.0.129', '10.0.0.130', '10.0.0.130'],
    [
      'exclusions',
      { cidr: '10.0.0.128/29', pool: { exclude: ['10.0.0.129', '10.0.0.131'] } },
      '10.0.0.129',
      '10.0.0.134',
      '10.0.0.130',
    ],
    [
      'a reserved address is not the server',
      { cidr: '10.0.0.0/24', serverIP: '', reservations: [{ macAddress: '02:00:00:00:00:01', ipAddress: '10.0.0.1' }] },
      '10.0.0.1',
      '10.0.0.254',
      '10.0.0.2',
    ],
    [
      'a server of its own where nothing else is left',
      { cidr: '10.0.0.128/30', serverIP: '10.0.0.129', pool: { exclude: ['10.0.0.129-10.0.0.130'] } },
      '10.0.0.129',
      '10.0.0.130',
      '10.0.0.129',
    ],
    [
      'fields that are null',
      { cidr: '192.168.0.0/24', serverIP: null, pool: { start: null } },
      '192.168.0.1',
      '192.168.0.254',
      '192.168.0.1',
    ],
    ['a server of another type, which stays', { cidr: '192.168.0.0/24', serverIP: 7 }, '192.168.0.1', '192.168.0.254', 7],
    [
      'other fields of wrong types',
      { cidr: '10.0.0.0/24', router: 7, reservations: 7, pool: { exclude: 7 } },
      '10.0.0.1',
      '10.0.0.254',
      '10.0.0.1',
    ],
    [
      'entries of types that are not allowed',
      {
        cidr: '10.0.0.0/24',
        reservations: [7, null, { macAddress: 7, ipAddress: '10.0.0.1' }],
        pool: { exclude: [7, '10.0.0.1'] },
      },
      '10.0.0.1',
      '10.0.0.254',
      '10.0.0.2',
    ],
    [
      'reservations that are not complete',
      { cidr: '10.0.0.0/24', reservations: [{ macAddress: '02:00:00:00:00:01' }, { ipAddress: '10.0.0.1' }] },
      '10.0.0.1',
      '10.0.0.254',
      '10.0.0.1',
    ],
    ['an empty router', { cidr: '192.168.0.0/24', router: '' }, '192.168.0.1', '192.168.0.254', '192.168.0.1'],
    ['a start of its own', { cidr: '10.0.0.128/30', pool: { start: '10.0.0.130' } }, '10.0.0.130', '10.0.0.130', '10.0.0.129'],
    [
      'everything given',
      { cidr: '10.0.0.0/24', serverIP: '10.0.0.9', pool: { start: '10.0.0.20', end: '10.0.0.30' } },
      '10.0.0.20',
      '10.0.0.30',
      '10.0.0.9',
    ],
    ['a /31: nothing can be left out', { cidr: '10.0.0.0/31' }, undefined, undefined, undefined],
    ['no subnet', { cidr: 'nothing' }, undefined, undefined, undefined],
    [
      'everything excluded',
      { cidr: '10.0.0.128/30', pool: { exclude: ['10.0.0.129-10.0.0.130'] } },
      undefined,
      undefined,
      undefined,
    ],
  ])('%s', (_what, ipv4Config, start, end, server) => expect(filled(ipv4Config)).toEqual([start, end, server]));

  it('an empty router is removed, whatever else is given', () => {
    const given = { cidr: '10.0.0.0/24', leaseTime: 60, serverIP: '10.0.0.9', pool: { start: '10.0.0.20', end: '10.0.0.30' } };
    expect(fillInDefaults(poolOf({ ...given, router: '' }))).toStrictEqual(poolOf(given));
    expect(fillInDefaults(poolOf({ ...given, router: '10.0.0.1' }))).toStrictEqual(poolOf({ ...given, router: '10.0.0.1' }));
  });

  it.each([
    undefined,
    null,
    'text',
    [],
    { kind: 'Pod' },
    { kind: 'IPPool' },
    { kind: 'IPPool', spec: { ipv4Config: 7 } },
    { kind: 'IPPool', spec: { ipv4Config: {} } },
    { ...poolOf({ cidr: '10.0.0.0/24' }), kind: 'Pod' },
    poolOf({ cidr: 7 }),
    poolOf({ cidr: '10.0.0.0/24', leaseTime: 60, serverIP: '10.0.0.9', pool: { start: '10.0.0.20', end: '10.0.0.30' } }),
  ])('%j is returned unchanged', (value) => {
    expect(fillInDefaults(value)).toBe(value);
  });
});
