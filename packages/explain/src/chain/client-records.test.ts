import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { ADDRESS, MAC, NETWORK, OTHER_MAC, POOL, pool } from './chain-fixtures.js';
import { findClientRecords } from './client-records.js';

const RESERVED = '10.1.0.50';
const POOLS = [
  pool({
    allocated: { [ADDRESS]: MAC.toUpperCase(), '10.1.0.2': 'RESERVED', '10.1.0.11': 'EXCLUDED', '10.1.0.12': 'nonsense' },
    ipv4Config: { reservations: [{ macAddress: OTHER_MAC, ipAddress: RESERVED }] },
    status: { quarantined: { '10.1.0.13': { until: '2026-01-01T01:00:00Z', usedBy: OTHER_MAC } } },
  }),
  pool({ ipv4Config: { cidr: '10.2.0.0/24' }, allocated: {} }),
];
const recordsOf = (address: string) => findClientRecords(POOLS, { kind: 'address', address: parseIpv4Address(address) ?? 0 });

describe('what pools record about an address', () => {
  it.each([
    [ADDRESS, { state: 'assigned', macAddress: MAC }],
    [RESERVED, { state: 'reserved', macAddress: OTHER_MAC }],
    ['10.1.0.2', { state: 'unavailable', reason: 'AddressUnavailable' }],
    ['10.1.0.11', { state: 'excluded', reason: 'AddressUnavailable' }],
    ['10.1.0.25', { state: 'excluded', reason: 'AddressUnavailable' }],
    ['10.1.0.12', { state: 'unreadable', reason: 'EntriesSkipped' }],
    ['10.1.0.13', { state: 'quarantined', reason: 'AddressQuarantined', usedBy: OTHER_MAC }],
    ['10.1.0.99', { state: 'free', reason: 'AddressFree' }],
    ['10.1.0.100', { state: 'outside-range', reason: 'ClientUnknown' }],
  ])('%s', (address, expected) => {
    expect(recordsOf(address)).toEqual([{ pool: POOL, network: NETWORK, address, ...expected }]);
  });

  it.each([
    ['10.1.0.40', 'free'],
    ['10.1.0.45', 'free'],
    ['10.1.0.46', 'outside-range'],
    ['10.1.0.60', 'free'],
    ['10.1.0.61', 'outside-range'],
  ])('several ranges: %s is %s', (address, state) => {
    const several = pool({
      ipv4Config: { pool: { start: '10.1.0.10', end: '10.1.0.99', ranges: ['10.1.0.40-10.1.0.45', '10.1.0.60'] } },
    });
    expect(findClientRecords([several], { kind: 'address', address: parseIpv4Address(address) ?? 0 })).toMatchObject([{ state }]);
  });

  it('an address outside every subnet has no record', () => {
    expect(recordsOf('10.9.0.1')).toEqual([]);
  });
});

it('finds a MAC address in any spelling, assigned or reserved', () => {
  const of = (macAddress: string) => findClientRecords(POOLS, { kind: 'mac-address', macAddress });
  expect(of(MAC)).toMatchObject([{ address: ADDRESS, state: 'assigned' }]);
  expect(of(OTHER_MAC)).toMatchObject([{ address: RESERVED, state: 'reserved' }]);
  expect(of('02:00:00:00:00:99')).toEqual([]);
});
