import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { macAddressBytes } from '../address/mac-address.js';
import type { Lease } from './lease.js';
import { LeaseIndex } from './lease-index.js';
import { LeaseTable } from './lease-table.js';

const lease = (macAddress: string, address = 1): Lease => ({ poolName: 'net', macAddress, address });
const mac = (value: number): string =>
  value
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');

describe('a lease index', () => {
  it('finds the lease of a MAC address at any offset of a packet, and no other lease', () => {
    const [one, other] = [lease('02:00:00:00:00:0a'), lease('02:00:00:00:00:0b')];
    const index = new LeaseIndex([one, other]);
    const packet = new Uint8Array(40);
    packet.set(macAddressBytes('02:00:00:00:00:0b'), 28);
    expect(index.find(packet, 28)).toBe(other);
    expect(index.find(macAddressBytes('02:00:00:00:00:0a'), 0)).toBe(one);
    expect(index.find(macAddressBytes('02:00:00:00:00:0c'), 0)).toBeUndefined();
    expect(index.find(macAddressBytes('0a:00:00:00:00:0a'), 0)).toBeUndefined();
    expect(new LeaseIndex([]).find(packet, 28)).toBeUndefined();
  });

  it('law: it finds the same leases as a Map by text', () => {
    const near = fc.integer({ min: 0, max: 40 }).map((value) => mac(0x020000000000 + value));
    const any = fc.integer({ min: 0, max: 2 ** 48 - 1 }).map(mac);
    const address = fc.oneof(near, any);
    fc.assert(
      fc.property(fc.uniqueArray(address, { maxLength: 70 }), fc.array(address), (known, asked) => {
        const leases = new Map(known.map((one, position) => [one, lease(one, position)]));
        const index = new LeaseIndex(leases.values());
        for (const one of [...known, ...asked]) expect(index.find(macAddressBytes(one), 0)).toBe(leases.get(one));
      }),
    );
  });

  it('law: after any changes it finds the same leases as a new index', () => {
    // Few addresses, many of which hash to the same slot.
    const address = fc.integer({ min: 0, max: 24 }).map((value) => mac(0x020000000000 + value));
    const step = fc.record({ isSet: fc.boolean(), macAddress: address, address: fc.nat(9) });
    fc.assert(
      fc.property(fc.uniqueArray(address, { maxLength: 12 }), fc.array(step, { maxLength: 60, size: 'max' }), (known, steps) => {
        const leases = new Map(known.map((one) => [one, lease(one)]));
        const index = new LeaseIndex(leases.values());
        for (const { isSet, macAddress, address: number } of steps) {
          if (isSet) leases.set(macAddress, lease(macAddress, number));
          else leases.delete(macAddress);
          if (isSet) index.set(leases.get(macAddress) as Lease);
          else index.delete(macAddress);
          for (let value = 0; value <= 24; value++) {
            const one = mac(0x020000000000 + value);
            expect(index.find(macAddressBytes(one), 0)).toBe(leases.get(one));
          }
        }
      }),
    );
  });
});

it('a lease table keeps an up-to-date index of each pool', () => {
  const table = new LeaseTable();
  const octets = macAddressBytes('02:00:00:00:00:0a');
  const find = () => table.indexOf('net')?.find(octets, 0)?.address;
  expect(table.indexOf('net')).toBeUndefined();
  table.replacePool('net', [{ macAddress: '02:00:00:00:00:0a', address: 10 }]);
  expect(find()).toBe(10);
  expect(table.indexOf('net')).toBe(table.indexOf('net'));
  table.replacePool('net', [{ macAddress: '02:00:00:00:00:0a', address: 11 }]);
  expect(find()).toBe(11);
  table.setExpiry({ poolName: 'net', macAddress: '02:00:00:00:00:0a', address: 11 }, 5);
  expect(table.indexOf('net')?.find(octets, 0)).toBe(table.lookup('net', '02:00:00:00:00:0a'));
  table.replacePool('net', []);
  expect(find()).toBeUndefined();
});
