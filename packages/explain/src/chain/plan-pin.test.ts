import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { REASONS } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { ADDRESS, MAC, OTHER_MAC, observe, pool } from './chain-fixtures.js';
import { explainAddress } from './explain-address.js';
import { planPin } from './plan-pin.js';

const POOL = pool({
  allocated: { [ADDRESS]: MAC, '10.1.0.11': OTHER_MAC, '10.1.0.12': 'EXCLUDED', '10.1.0.13': 'nonsense' },
  ipv4Config: {
    reservations: [
      { macAddress: OTHER_MAC, ipAddress: '10.1.0.14' },
      { macAddress: MAC, ipAddress: '10.1.0.200' },
    ],
  },
  status: { quarantined: { '10.1.0.15': { until: '2026-01-01T01:00:00Z' } } },
});

const plan = (address: string, interfaceName = 'default') =>
  planPin({ chain: explainAddress(observe()), interfaceName, address: parseIpv4Address(address) ?? 0, pool: POOL });

describe('pinning an address', () => {
  it.each([ADDRESS, '10.1.0.16', '10.1.0.200'])('succeeds if it is free, or already belongs to the interface: %s', (address) => {
    const annotations = { 'static-ip.harvesterhci.io/default': address };
    expect(plan(address)).toMatchObject({ kind: 'patch', patch: { metadata: { annotations } } });
  });

  it.each([
    ['10.1.0.11', 'AddressTaken'],
    ['10.1.0.12', 'AddressUnavailable'],
    ['10.1.0.13', 'EntriesSkipped'],
    ['10.1.0.14', 'AddressReserved'],
    ['10.1.0.15', 'AddressQuarantined'],
    ['10.1.0.100', 'AddressOutsidePool'],
    ['10.9.0.1', 'AddressOutsidePool'],
  ] as const)('is refused if another client has it, or no client may: %s, %s', (address, reason) => {
    const refused = plan(address);
    expect(refused).toMatchObject({ kind: 'refused' });
    expect('message' in refused && refused.message).toContain(`${reason}: ${address}`);
    expect('message' in refused && refused.message).toContain(REASONS[reason].remedy);
  });

  it('is refused for an interface that does not exist, or without a pool to compare with', () => {
    expect(plan(ADDRESS, 'eth9')).toMatchObject({ kind: 'refused', message: expect.stringContaining('it has default') });
    const request = { chain: explainAddress(observe()), interfaceName: 'default', address: 1, pool: undefined };
    expect(planPin(request)).toMatchObject({ kind: 'refused' });
  });
});
