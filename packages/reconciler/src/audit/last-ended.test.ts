import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AssignmentRecord, exactly } from './assignment-record.js';
import { lastEnded } from './last-ended.js';

/** @param endedAtMs - undefined if it has not ended. */
function record(serial: number, endedAtMs: number | undefined): AssignmentRecord {
  return {
    serial,
    address: 0xc0a83011,
    macAddress: parseMacAddress('02:00:5e:10:00:01') as MacAddress,
    virtualMachine: `default/vm-${serial}`,
    uid: undefined,
    interface: undefined,
    network: 'default/net',
    from: exactly(0),
    began: 'assigned',
    ...(endedAtMs !== undefined && { end: { to: exactly(endedAtMs), reason: 'vm-deleted' as const } }),
  };
}

it.each<[string, readonly AssignmentRecord[], number | undefined]>([
  ['no record', [], undefined],
  ['one that goes on', [record(1, undefined)], undefined],
  ['one that ended, and one that goes on', [record(1, 5), record(2, undefined)], 1],
  ['two that ended, the later one first', [record(2, 9), record(1, 5)], 2],
  ['two that ended in the same second', [record(2, 5), record(1, 5)], 2],
])('%s', (_name, records, serial) => {
  expect(lastEnded(records)?.serial).toBe(serial);
});

it('law: no other record ended later, in whatever order they are', () => {
  const ends = fc.array(fc.option(fc.nat(5), { nil: undefined }), { maxLength: 8 });
  fc.assert(
    fc.property(ends, (times) => {
      const records = times.map((time, index) => record(index + 1, time));
      const last = lastEnded(records);
      expect(lastEnded(records.toReversed())).toBe(last);
      for (const { end } of records) expect(end?.to.notAfterMs ?? -1).toBeLessThanOrEqual(last?.end.to.notAfterMs ?? -1);
    }),
  );
});
