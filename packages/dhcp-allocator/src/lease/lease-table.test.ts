import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import type { Assignment, Lease, LeaseChange } from './lease.js';
import { ConflictingAssignmentsError, LeaseTable } from './lease-table.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const ip = (text: string): number => parseIpv4Address(text) as number;
const assignment = (macAddress: string, address: string, hostname?: string): Assignment => ({
  macAddress,
  address: ip(address),
  ...(hostname !== undefined && { hostname }),
});
const summary = (changes: readonly LeaseChange[]): string[] => changes.map(({ kind, lease }) => `${kind} ${lease.macAddress}`);

describe('a lease table tells a story', () => {
  it('an index belongs to one generation; an expiry does not begin a new one, and applies to the lease that the index found', () => {
    const table = new LeaseTable();
    const generations = [table.generation];
    table.replacePool('net', [assignment(VM_A, '10.0.0.10')]);
    generations.push(table.generation);
    const found = table.indexOf('net')?.find(macAddressBytes(VM_A), 0) as Lease;
    table.setExpiryOfFound(found, 5_000);
    expect(table.generation).toBe(generations[1]);
    expect(table.lookup('net', VM_A)?.expiresAtMs).toBe(5_000);
    expect(table.expire(5_000)).toEqual([found]);
    expect(() => table.replacePool('net', [assignment(VM_A, '10.0.0.10'), assignment(VM_B, '10.0.0.10')])).toThrow(
      ConflictingAssignmentsError,
    );
    generations.push(table.generation);
    table.removePool('net');
    generations.push(table.generation);
    expect(new Set(generations).size).toBe(4);
  });

  it('pools are independent: the same client has a lease in each', () => {
    const table = new LeaseTable();
    table.replacePool('blue', [assignment(VM_A, '10.0.0.10')]);
    table.replacePool('green', [assignment(VM_A, '10.9.0.10')]);
    expect(table.lookup('blue', VM_A)?.address).toBe(ip('10.0.0.10'));
    expect(table.lookup('green', VM_A)?.address).toBe(ip('10.9.0.10'));
    expect(table.removePool('blue').map(({ poolName }) => poolName)).toEqual(['blue']);
    expect(table.lookup('blue', VM_A)).toBeUndefined();
    expect(table.lookup('green', VM_A)?.address).toBe(ip('10.9.0.10'));
    expect([table.size(), table.size('blue'), table.size('green')]).toEqual([1, 0, 1]);
  });

  it('two clients swap their addresses in one step', () => {
    const table = new LeaseTable();
    table.replacePool('net', [assignment(VM_A, '10.0.0.10'), assignment(VM_B, '10.0.0.11')]);
    const changes = table.replacePool('net', [assignment(VM_A, '10.0.0.11'), assignment(VM_B, '10.0.0.10')]);
    expect(summary(changes)).toEqual([`changed ${VM_A}`, `changed ${VM_B}`]);
    expect(table.ownerOf('net', ip('10.0.0.10'))?.macAddress).toBe(VM_B);
    expect(table.ownerOf('net', ip('10.0.0.11'))?.macAddress).toBe(VM_A);
  });

  it('an address changes its client; removals come first', () => {
    const table = new LeaseTable();
    table.replacePool('net', [assignment(VM_A, '10.0.0.10')]);
    expect(summary(table.replacePool('net', [assignment(VM_B, '10.0.0.10')]))).toEqual([`removed ${VM_A}`, `added ${VM_B}`]);
    expect(table.lookup('net', VM_A)).toBeUndefined();
  });

  it('a lease keeps its expiry when only its host name changes; a new address starts without one', () => {
    const table = new LeaseTable();
    table.replacePool('net', [assignment(VM_A, '10.0.0.10')]);
    expect(table.setExpiry({ poolName: 'net', ...assignment(VM_A, '10.0.0.10') }, 5_000)).toBe(true);
    expect(table.replacePool('net', [assignment(VM_A, '10.0.0.10')])).toEqual([]);
    expect(summary(table.replacePool('net', [assignment(VM_A, '10.0.0.10', 'vm-a')]))).toEqual([`changed ${VM_A}`]);
    expect(table.lookup('net', VM_A)).toMatchObject({ hostname: 'vm-a', expiresAtMs: 5_000 });
    table.replacePool('net', [assignment(VM_A, '10.0.0.11')]);
    expect(table.lookup('net', VM_A)?.expiresAtMs).toBeUndefined();
    expect(table.setExpiry({ poolName: 'net', ...assignment(VM_A, '10.0.0.10') }, 9_000)).toBe(false);
  });

  it('leases expire, the assignments stay', () => {
    const table = new LeaseTable();
    table.replacePool('net', [assignment(VM_A, '10.0.0.10'), assignment(VM_B, '10.0.0.11')]);
    table.setExpiry({ poolName: 'net', ...assignment(VM_A, '10.0.0.10') }, 1_000);
    table.setExpiry({ poolName: 'net', ...assignment(VM_B, '10.0.0.11') }, Number.POSITIVE_INFINITY);
    expect(table.expire(999)).toEqual([]);
    expect(table.expire(1_000).map(({ macAddress }) => macAddress)).toEqual([VM_A]);
    expect(table.expire(1_000)).toEqual([]);
    expect(table.lookup('net', VM_A)).toMatchObject({ address: ip('10.0.0.10') });
  });

  it.each([
    ['one address for two clients', [assignment(VM_A, '10.0.0.10'), assignment(VM_B, '10.0.0.10')]],
    ['two addresses for one client', [assignment(VM_A, '10.0.0.10'), assignment(VM_A, '10.0.0.11')]],
  ])('%s throws, as a bug of the caller, and changes nothing', (_, assignments) => {
    const table = new LeaseTable();
    table.replacePool('net', [assignment(VM_B, '10.0.0.20')]);
    expect(() => table.replacePool('net', assignments)).toThrow(ConflictingAssignmentsError);
    expect([...table.leases('net')]).toEqual([{ poolName: 'net', ...assignment(VM_B, '10.0.0.20') }]);
  });

  it('law: after any replacement, an address has one client and a client one address', () => {
    const plan = fc.uniqueArray(fc.tuple(fc.nat(9), fc.nat(9)), { selector: ([client]) => client, maxLength: 8 });
    fc.assert(
      fc.property(fc.array(plan, { maxLength: 5 }), (plans) => {
        const table = new LeaseTable();
        for (const pairs of plans) {
          const distinct = pairs.filter(([, address], index) => pairs.findIndex(([, other]) => other === address) === index);
          table.replacePool(
            'net',
            distinct.map(([client, address]) => assignment(`02:00:00:00:00:0${client}`, `10.0.0.${address}`)),
          );
          for (const lease of table.leases('net')) {
            expect(table.ownerOf('net', lease.address)).toBe(lease);
            expect(table.lookup('net', lease.macAddress)).toBe(lease);
          }
          expect(table.size('net')).toBe(distinct.length);
        }
      }),
    );
  });

  it.each([
    ['an address that another client keeps', [assignment(VM_A, '10.0.0.11')]],
    ['one address for two clients', [assignment(VM_A, '10.0.0.12'), assignment('02:00:00:00:00:0c', '10.0.0.12')]],
    ['two addresses for one client', [assignment(VM_A, '10.0.0.12'), assignment(VM_A, '10.0.0.13')]],
  ])('a change with a conflict changes nothing: %s', (_, assigned) => {
    const table = new LeaseTable();
    const known = [assignment(VM_A, '10.0.0.10'), assignment(VM_B, '10.0.0.11')];
    table.replacePool('net', known);
    expect(() => table.changePool('net', { removed: [], assigned })).toThrow(ConflictingAssignmentsError);
    expect([...table.leases('net')]).toEqual(known.map((one) => ({ poolName: 'net', ...one })));
  });

  it('law: a changed table equals a new one, including expiries and index', () => {
    const record = fc
      .uniqueArray(fc.tuple(fc.nat(9), fc.nat(9), fc.constantFrom(undefined, 'vm')), {
        selector: ([client]) => client,
        maxLength: 9,
      })
      .map((all) => all.filter(([, address], index) => all.findIndex(([, other]) => other === address) === index))
      .map((all) => all.map(([client, address, name]) => assignment(`02:00:00:00:00:0${client}`, `10.0.0.${address}`, name)));
    fc.assert(
      fc.property(fc.array(fc.tuple(record, fc.boolean()), { maxLength: 6 }), (records) => {
        const [changed, replaced] = [new LeaseTable(), new LeaseTable()];
        let before: readonly Assignment[] = [];
        for (const [after, asksForIndex] of records) {
          const has = (all: readonly Assignment[], { macAddress }: Assignment) =>
            all.some((one) => one.macAddress === macAddress);
          const removed = before.filter((one) => !has(after, one)).map(({ macAddress }) => macAddress);
          const assigned = after.filter((one) => !before.some((known) => JSON.stringify(known) === JSON.stringify(one)));
          const sorted = (changes: readonly LeaseChange[]) => changes.map((change) => JSON.stringify(change)).toSorted();
          expect(sorted(changed.changePool('net', { removed, assigned }))).toEqual(sorted(replaced.replacePool('net', after)));
          for (const table of [changed, replaced]) {
            for (const one of after.slice(0, 3)) table.setExpiry({ poolName: 'net', ...one }, 1_000);
          }
          if (asksForIndex) changed.indexOf('net');
          expect(contentOf(changed)).toEqual(contentOf(replaced));
          before = after;
        }
      }),
    );
  });
});

function contentOf(table: LeaseTable): unknown {
  return Array.from({ length: 10 }, (_, number) => {
    const macAddress = `02:00:00:00:00:0${number}`;
    const lease = table.lookup('net', macAddress);
    expect(table.indexOf('net')?.find(macAddressBytes(macAddress), 0)).toBe(lease);
    return [lease, table.ownerOf('net', ip(`10.0.0.${number}`)), table.size('net')];
  });
}
