import { AddressAllocator, type MacAddress, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findAddressRefusal } from './find-address-refusal.js';

it('law: an empty pool refuses an address for the same reason as its allocator', () => {
  const checked = validatePool({
    name: 'net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.20',
    ranges: ['10.0.0.10-10.0.0.24', '10.0.0.28-10.0.0.40'],
    exclude: ['10.0.0.12', '10.0.0.30-10.0.0.33'],
    reservations: [
      { macAddress: '02:00:00:00:00:01', address: '10.0.0.15' },
      { macAddress: '02:00:00:00:00:02', address: '10.0.0.200' },
    ],
    options: { router: '10.0.0.21' },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const pool = checked.value;
  const clients = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'] as MacAddress[];
  fc.assert(
    fc.property(fc.constantFrom(...clients), fc.integer({ min: 0x09ffffff, max: 0x0a000101 }), (client, address) => {
      const result = new AddressAllocator(pool).allocate(client, address);
      const { reason, owner } = findAddressRefusal(pool, client, address) ?? {};
      expect([reason, owner]).toEqual(result.ok ? [undefined, undefined] : [result.reason, result.owner]);
    }),
    { numRuns: 2_000 },
  );
});
