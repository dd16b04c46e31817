/** The schema of a record, which other programs read: docs/reference/audit.md describes it. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssignmentRecord, BEGIN_REASONS, type BeginReason, END_REASONS, type EndReason } from './assignment-record.js';
import { parseRecord, toRecordText } from './record-text.js';

const FROM = Date.UTC(2026, 10, 17, 10);
const record: AssignmentRecord = {
  serial: 7,
  address: 0xc0a83011,
  macAddress: parseMacAddress('02:00:5e:10:00:01') as MacAddress,
  virtualMachine: 'default/web',
  uid: '6f1c',
  interface: 'nic',
  network: 'default/vlan-48',
  from: { notBeforeMs: FROM, notAfterMs: FROM },
  began: 'assigned',
};

describe('a record as JSON', () => {
  it('has these fields, in this order, and leaves out unknown ones', () => {
    expect(JSON.stringify(toRecordText(record))).toBe(
      '{"serial":7,"address":"192.168.48.17","macAddress":"02:00:5e:10:00:01","virtualMachine":"default/web","uid":"6f1c","interface":"nic","network":"default/vlan-48","from":"2026-11-17T10:00:00Z","began":"assigned"}',
    );
    const end = { to: { notBeforeMs: FROM + 5_000, notAfterMs: FROM + 9_000 }, reason: 'not-recorded' } as const;
    const bare = { ...record, virtualMachine: undefined, uid: undefined, interface: undefined, end };
    const from = { notBeforeMs: Number.NEGATIVE_INFINITY, notAfterMs: FROM };
    expect(JSON.stringify(toRecordText({ ...bare, from, began: 'adopted' }))).toBe(
      '{"serial":7,"address":"192.168.48.17","macAddress":"02:00:5e:10:00:01","network":"default/vlan-48","from":"2026-11-17T10:00:00Z","fromUnknown":true,"began":"adopted","to":"2026-11-17T10:00:09Z","toNotBefore":"2026-11-17T10:00:05Z","ended":"not-recorded"}',
    );
  });

  it.each<[string, unknown]>([
    ['no object', 7],
    ['no address', { ...toRecordText(record), address: '192.168.48' }],
    ['no MAC address', { ...toRecordText(record), macAddress: 'web' }],
    ['no serial', { ...toRecordText(record), serial: 0 }],
    ['a reason that there is not', { ...toRecordText(record), began: 'toString' }],
    ['no time', { ...toRecordText(record), from: 'Tuesday' }],
    ['an end without a reason', { ...toRecordText(record), to: '2026-11-17T10:00:09Z' }],
    ['times in the wrong order', { ...toRecordText(record), fromNotBefore: '2026-11-17T10:00:01Z' }],
  ])('%s: it is refused', (_name, value) => {
    expect(parseRecord(value)).toBeUndefined();
  });

  it('law: a written record is read back; parsing anything never throws', () => {
    const second = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1_000);
    const moment = fc.tuple(second, second).map(([one, other]) => ({
      notBeforeMs: Math.min(one, other),
      notAfterMs: Math.max(one, other),
    }));
    const text = fc.option(fc.string({ minLength: 1 }), { nil: undefined });
    const ended = fc.record({ to: moment, reason: fc.constantFrom(...(Object.keys(END_REASONS) as EndReason[])) });
    const any = fc
      .record({
        serial: fc.integer({ min: 1 }),
        address: fc.integer({ min: 1, max: 0xffff_fffe }),
        virtualMachine: text,
        uid: text,
        interface: text,
        from: moment,
        began: fc.constantFrom(...(Object.keys(BEGIN_REASONS) as BeginReason[])),
        end: fc.option(ended, { nil: undefined }),
      })
      .map(({ end, ...fields }): AssignmentRecord => ({ ...record, ...fields, ...(end && { end }) }));
    fc.assert(fc.property(any, (one) => void expect(parseRecord(JSON.parse(JSON.stringify(toRecordText(one))))).toEqual(one)));
    fc.assert(fc.property(fc.jsonValue(), (value) => void parseRecord(value)));
  });
});
