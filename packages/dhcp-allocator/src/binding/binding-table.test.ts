import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BindingRecord } from './binding.js';
import { BindingTable } from './binding-table.js';
import { EndOrder } from './end-order.js';

function recordOf(
  address: number,
  client: number,
  more: Partial<Extract<BindingRecord, { kind: 'binding' }>> = {},
): BindingRecord {
  return {
    ...{ kind: 'binding', poolName: 'net', address },
    macAddress: `02:00:00:00:00:${client.toString(16).padStart(2, '0')}`,
    ...{ boundAtMs: 1, grantedAtMs: 2, endsAtMs: 3, isReleased: false, ...more },
  };
}

describe('a binding table', () => {
  it('returns what was recorded, also for addresses above 128.0.0.0', () => {
    const table = new BindingTable('net');
    const record = recordOf(0xc0a80001, 1, { hostname: 'node-1', isReleased: true, endsAtMs: Number.POSITIVE_INFINITY });
    expect(table.apply(record)).toEqual([0xc0a80001]);
    const { kind, poolName, ...binding } = record as Extract<BindingRecord, { kind: 'binding' }>;
    expect([table.at(0xc0a80001), table.ofClient(binding.macAddress)]).toEqual([binding, binding]);
    expect([...table.records()]).toEqual([{ kind, poolName, ...binding }]);
    table.apply(recordOf(0xc0a80001, 2));
    expect(table.ofClient(binding.macAddress)).toBeUndefined();
    expect(table.at(0xc0a80001)).not.toHaveProperty('hostname');
  });

  it('a client that gets another address leaves its former one, and a quarantine ends a binding', () => {
    const table = new BindingTable('net');
    table.apply(recordOf(10, 1));
    expect(table.apply(recordOf(11, 1))).toEqual([10, 11]);
    expect(table.at(10)).toBeUndefined();
    expect(table.apply({ kind: 'quarantine', poolName: 'net', address: 11, untilMs: 9 })).toEqual([11]);
    expect([table.size, [...table.quarantines()]]).toEqual([0, [[11, 9]]]);
    table.apply(recordOf(11, 2));
    expect([table.size, table.quarantines().size]).toEqual([1, 0]);
  });

  it('law: behaves like two maps, also when it grows', () => {
    const change = fc.record({ address: fc.nat(150), client: fc.nat(150), quarantines: fc.integer({ min: 0, max: 9 }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400, size: 'max' }), (changes) => {
        const table = new BindingTable('net');
        const model = new Map<number, BindingRecord>();
        for (const { address, client, quarantines } of changes) {
          const record: BindingRecord =
            quarantines === 0 ? { kind: 'quarantine', poolName: 'net', address, untilMs: client } : recordOf(address, client);
          for (const [at, known] of model) {
            if (known.kind === 'binding' && record.kind === 'binding' && known.macAddress === record.macAddress) model.delete(at);
          }
          model.set(address, record);
          table.apply(record);
        }
        const sorted = (records: Iterable<BindingRecord>) => [...records].toSorted((one, other) => one.address - other.address);
        expect(sorted(table.records())).toEqual(sorted(model.values()));
        for (const record of model.values()) {
          if (record.kind === 'binding') expect(table.ofClient(record.macAddress)?.address).toBe(record.address);
        }
      }),
      { numRuns: 50 },
    );
  });
});

it('law: an end order puts the address that ends first in front; of two, the lower one', () => {
  const change = fc.record({
    address: fc.integer({ min: 0xfffffff0, max: 0xffffffff }),
    end: fc.option(fc.nat(20), { freq: 3 }),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80, size: 'max' }), (changes) => {
      const order = new EndOrder();
      const model = new Map<number, number>();
      for (const { address, end } of changes) {
        if (end === null) {
          order.delete(address);
          model.delete(address);
        } else {
          order.set(address, end);
          model.set(address, end);
        }
        const [first] = [...model].toSorted(([a, aEnd], [b, bEnd]) => aEnd - bEnd || a - b);
        expect([order.first, order.firstEndsAtMs, order.size]).toEqual([
          first?.[0],
          first?.[1] ?? Number.POSITIVE_INFINITY,
          model.size,
        ]);
      }
    }),
  );
});
