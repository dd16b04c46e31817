import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BindingRecord } from './binding.js';
import { formatBindingRecord, parseBindingRecord } from './binding-record.js';

const BINDING: BindingRecord = {
  ...{ kind: 'binding', poolName: 'net', address: 0x0a00000a, macAddress: '02:00:00:00:00:01' },
  ...{ boundAtMs: 1_000, grantedAtMs: 2_000, endsAtMs: 3_000, isReleased: false },
};
const LINE =
  '{"pool":"net","address":"10.0.0.10","client":"01020000000001","mac":"02:00:00:00:00:01","bound":1000,"granted":2000,"ends":3000}';

describe('a record is one line', () => {
  it.each<[string, BindingRecord, string]>([
    ['a binding', BINDING, LINE],
    ['a binding of a pool without a name', { ...BINDING, poolName: '' }, LINE.replace('net', '')],
    ['a lease that never ends', { ...BINDING, endsAtMs: Number.POSITIVE_INFINITY }, LINE.replace('3000', '"never"')],
    [
      'a released one, with a host name',
      { ...BINDING, hostname: 'node-1', isReleased: true },
      LINE.replace('"bound"', '"hostname":"node-1","bound"').replace('}', ',"released":true}'),
    ],
    [
      'a quarantine',
      { kind: 'quarantine', poolName: 'net', address: 0x0a00000b, untilMs: 5_000 },
      '{"pool":"net","address":"10.0.0.11","quarantined":5000}',
    ],
  ])('%s', (_title, record, line) => {
    expect(formatBindingRecord(record)).toBe(line);
    expect(parseBindingRecord(line)).toEqual({ ok: true, record });
  });

  it('a record of an earlier version, which has a client identifier, belongs to the client with its MAC address', () => {
    expect(parseBindingRecord(LINE.replace('01020000000001', 'ff0000000100040909'))).toEqual({ ok: true, record: BINDING });
  });

  it.each([
    ['', 'not-json'],
    ['{', 'not-json'],
    ['[]', 'not-a-record'],
    ['null', 'not-a-record'],
    ['7', 'not-a-record'],
    ['{}', 'pool-invalid'],
    [LINE.replace('"net"', '7'), 'pool-invalid'],
    [LINE.replace('10.0.0.10', '999.0.0.10'), 'address-invalid'],
    [LINE.replace('"10.0.0.10"', '10'), 'address-invalid'],
    [LINE.replace('02:00:00:00:00:01', '02:00'), 'mac-address-invalid'],
    [LINE.replace('"bound"', '"hostname":"a b","bound"'), 'hostname-invalid'],
    [LINE.replace('3000', 'null'), 'time-invalid'],
    [LINE.replace('3000', '"soon"'), 'time-invalid'],
    [LINE.replace('}', ',"released":1}'), 'state-invalid'],
    ['{"pool":"net","address":"10.0.0.11","quarantined":[]}', 'time-invalid'],
  ])('%s is not a record: %s', (line, reason) => expect(parseBindingRecord(line)).toEqual({ ok: false, reason }));

  const time = fc.oneof(fc.integer({ min: 0, max: 2 ** 45 }), fc.constant(Number.POSITIVE_INFINITY));
  const octet = fc.nat(255).map((value) => value.toString(16).padStart(2, '0'));
  const place = { poolName: fc.string({ unit: 'binary' }), address: fc.nat(0xffffffff) };
  const anyRecord: fc.Arbitrary<BindingRecord> = fc.oneof(
    fc.record({ kind: fc.constant('quarantine' as const), ...place, untilMs: time }),
    fc.record(
      {
        ...{ kind: fc.constant('binding' as const), ...place, isReleased: fc.boolean(), endsAtMs: time },
        macAddress: fc.array(octet, { minLength: 6, maxLength: 6 }).map((octets) => octets.join(':')),
        hostname: fc.constantFrom('node-1', 'a.example.org'),
        ...{ boundAtMs: fc.nat(), grantedAtMs: fc.nat() },
      },
      {
        requiredKeys: ['kind', 'poolName', 'address', 'isReleased', 'endsAtMs', 'macAddress', 'boundAtMs', 'grantedAtMs'],
      },
    ),
  );

  it('law: parse(format(r)) = r, on one line; a line that is cut anywhere is refused', () => {
    fc.assert(
      fc.property(anyRecord, fc.nat(), (record, cut) => {
        const line = formatBindingRecord(record);
        expect(line).not.toContain('\n');
        expect(parseBindingRecord(line)).toEqual({ ok: true, record });
        expect(parseBindingRecord(line.slice(0, cut % line.length)).ok).toBe(false);
      }),
    );
  });

  it('law: reading any text never throws', () => {
    const mutated = fc
      .tuple(fc.nat(LINE.length), fc.nat(LINE.length), fc.string())
      .map(([from, to, text]) => LINE.slice(0, from) + text + LINE.slice(to));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), mutated), (text) => {
        const read = parseBindingRecord(text);
        if (read.ok) expect(parseBindingRecord(formatBindingRecord(read.record))).toEqual(read);
      }),
      { numRuns: 1_000 },
    );
  });
});
