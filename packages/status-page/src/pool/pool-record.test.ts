import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ipPool, mac } from './pool-object-fixtures.js';
import { PoolRecord } from './pool-record.js';

const addresses = fc.integer({ min: 3, max: 8 }).map((last) => `10.0.0.${last}`);
const clients = fc.nat(5).map(mac);
/** Most versions are valid: those are compared, not read completely. */
const plain = fc.uniqueArray(fc.tuple(addresses, fc.oneof({ weight: 9, arbitrary: clients }, fc.constant('EXCLUDED'))), {
  selector: ([address]) => address,
  comparator: 'IsStrictlyEqual',
});
const allocated = fc.oneof(
  { weight: 4, arbitrary: plain.map((entries) => Object.fromEntries(withoutTwice(entries))) },
  fc.dictionary(addresses, fc.oneof(clients, fc.constant('nonsense'), fc.jsonValue())),
);

it('law: after any versions it equals a reading of the last version alone', () => {
  fc.assert(
    fc.property(fc.array(allocated, { minLength: 2, maxLength: 6 }), (versions) => {
      const followed = new PoolRecord();
      for (const version of versions) {
        const object = ipPool({ allocated: version });
        expect(read(followed, object)).toEqual(read(new PoolRecord(), object));
      }
    }),
  );
});

it('keeps the object of an unchanged client, even beside an invalid entry', () => {
  const record = new PoolRecord();
  const clientAt = (version: Record<string, string>) => record.read(ipPool({ allocated: version })).clients.get(0x0a000004);
  const first = clientAt({ '10.0.0.4': mac(1) });
  expect(clientAt({ '10.0.0.4': mac(1), '10.0.0.5': mac(2) })).toBe(first);
  expect(clientAt({ '10.0.0.4': mac(1), '10.0.0.5': 'nonsense' })).toBe(first);
  expect(clientAt({ '10.0.0.4': mac(1) })).toBe(first);
  expect(clientAt({ '10.0.0.4': mac(3) })).not.toBe(first);
});

it('does not change an earlier version', () => {
  const record = new PoolRecord();
  const before = record.read(ipPool({ allocated: { '10.0.0.4': mac(1) } }));
  record.read(ipPool({ allocated: { '10.0.0.5': mac(1) } }));
  expect([...before.clients.values()].map(({ address }) => formatIpv4Address(address))).toEqual(['10.0.0.4']);
});

function read(record: PoolRecord, object: KubernetesObject) {
  const { clients: table, unusable } = record.read(object);
  const all = [mac(0), mac(1), mac(2), mac(3), mac(4), mac(5)];
  return { clients: [...table.values()], unusable: new Set(unusable), has: all.filter(record.has) };
}

/** Each client once. */
function withoutTwice(entries: readonly (readonly [string, string])[]) {
  const seen = new Set<string>();
  return entries.filter(([, value]) => value === 'EXCLUDED' || (!seen.has(value) && seen.add(value)));
}
