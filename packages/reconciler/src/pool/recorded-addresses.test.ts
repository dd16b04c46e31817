import { describe, expect, it } from 'vitest';
import { readQuarantines, toQuarantined } from './quarantines.js';
import { describeEntry, readRecordedAddresses } from './recorded-addresses.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const status = (ipv4: unknown) => ({ metadata: { name: 'p' }, status: { ipv4 } });

describe('recorded addresses', () => {
  it('are entries with a MAC address; marks are not entries', () => {
    const { assignments, unreadable, entries } = readRecordedAddresses(
      status({ allocated: { '10.0.0.1': 'RESERVED', '10.0.0.2': 'EXCLUDED', '10.0.0.3': A.toUpperCase() } }),
    );
    expect(assignments).toEqual([{ address: 0x0a000003, macAddress: A }]);
    expect([unreadable, [...entries.keys()]]).toEqual([[], ['10.0.0.3']]);
  });

  it('an invalid entry, and a second one of a client, do not affect the others', () => {
    const read = readRecordedAddresses(
      status({ allocated: { '10.0.0.3': A, '10.0.0.4': 'x', here: B, '10.0.0.5': 7, '10.0.0.6': A, '10.0.0.7': B } }),
    );
    expect(read.assignments.map(({ macAddress, address }) => [macAddress, address & 255])).toEqual([
      [A, 3],
      [B, 7],
    ]);
    expect(read.unreadable).toEqual([
      { key: '10.0.0.4', value: 'x', address: 0x0a000004 },
      { key: 'here', value: B, address: undefined },
      { key: '10.0.0.5', value: 7, address: 0x0a000005 },
      { key: '10.0.0.6', value: A, address: 0x0a000006 },
    ]);
  });

  it('an unchanged entry is not parsed again; a changed one is', () => {
    const before = readRecordedAddresses(status({ allocated: { '10.0.0.3': A, '10.0.0.4': A } }));
    const after = readRecordedAddresses(status({ allocated: { '10.0.0.3': A, '10.0.0.4': B } }), before);
    expect(after.entries.get('10.0.0.3')).toBe(before.entries.get('10.0.0.3'));
    expect(after.assignments.map(({ macAddress }) => macAddress)).toEqual([A, B]);
  });

  it.each([undefined, null, 7, { allocated: [A] }])('%j has none', (ipv4) => {
    expect(readRecordedAddresses(status(ipv4)).assignments).toEqual([]);
  });

  it('are shown as written, but truncated', () => {
    expect(describeEntry({ key: '10.0.0.4', value: 'x', address: 1 })).toBe('"10.0.0.4": "x"');
    expect(describeEntry({ key: 'k'.repeat(100), value: { a: 1 }, address: undefined })).toBe(
      `"${'k'.repeat(61)}...": "{\\"a\\":1}"`,
    );
    expect(describeEntry({ key: 'k', value: undefined, address: undefined })).toBe('"k": ""');
  });
});

describe('quarantines', () => {
  const until = '2026-01-01T00:00:00Z';
  const untilMs = Date.parse(until);

  it('are read as they were written', () => {
    const quarantines = [
      { address: 0x0a000009, untilMs, usedBy: B },
      { address: 0x0a000008, untilMs },
    ];
    const quarantined = Object.fromEntries(toQuarantined(quarantines));
    expect(quarantined).toStrictEqual({ '10.0.0.9': { until, usedBy: B }, '10.0.0.8': { until } });
    expect(readQuarantines(status({ quarantined }))).toStrictEqual(quarantines);
  });

  it('an invalid entry is ignored', () => {
    expect(
      readQuarantines(
        status({ quarantined: { here: { until }, '10.0.0.9': { until: 'soon' }, '10.0.0.8': { until, usedBy: 'x' } } }),
      ),
    ).toEqual([{ address: 0x0a000008, untilMs }]);
    expect(readQuarantines(status({ quarantined: [until] }))).toEqual([]);
  });
});
