import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuarantines, toQuarantined } from './quarantines.js';
import { describeEntry, type RecordedAddresses, readRecordedAddresses } from './recorded-addresses.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const status = (ipv4: unknown) => ({ metadata: { name: 'p' }, status: { ipv4 } });

describe('recorded addresses', () => {
  it('are entries with a MAC address; marks are not entries', () => {
    const { assignments, unreadable, marks, entryAt } = readRecordedAddresses(
      status({ allocated: { '10.0.0.1': 'RESERVED', '10.0.0.2': 'EXCLUDED', '10.0.0.3': A.toUpperCase() } }),
    );
    expect(assignments).toEqual([{ address: 0x0a000003, macAddress: A }]);
    expect([unreadable, marks]).toEqual([[], ['10.0.0.1', '10.0.0.2']]);
    expect(['10.0.0.1', '10.0.0.3'].map((key) => entryAt(key)?.assignment?.macAddress)).toEqual([undefined, A]);
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

  it('law: a version that is read by its differences from another one equals one that is read as a whole', () => {
    const entry = fc.oneof(
      { weight: 20, arbitrary: fc.nat(30).map((number) => `02:00:00:00:00:${String(number).padStart(2, '0')}`) },
      fc.constantFrom('RESERVED', 'EXCLUDED', 'nonsense', 7, A.toUpperCase()),
    );
    const key = fc.oneof(
      { weight: 30, arbitrary: fc.nat(30).map((last) => `10.0.0.${last}`) },
      fc.constantFrom('here', '010.0.0.5'),
    );
    const allocated = fc.dictionary(key, entry, { maxKeys: 12 });
    const content = ({ assignments, unreadable, addressOf, marks, misspelled, version }: RecordedAddresses) => {
      const clients = [...addressOf].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return { assignments, unreadable, clients, marks: marks.toSorted(), misspelled: misspelled.toSorted(), version };
    };
    let [shared, plain] = [0, 0];
    fc.assert(
      fc.property(fc.array(allocated, { minLength: 2, maxLength: 4 }), fc.boolean(), (versions, isSimilar) => {
        let [before, last]: [RecordedAddresses | undefined, object] = [undefined, {}];
        for (const one of versions) {
          last = isSimilar ? { ...last, ...Object.fromEntries(Object.entries(one).slice(0, 2)) } : one;
          const now = readRecordedAddresses(status({ allocated: last }), before);
          expect(content(now)).toEqual(content(readRecordedAddresses(status({ allocated: last }))));
          plain++;
          if (before !== undefined && now.marks === before.marks) shared++;
          before = now;
        }
      }),
      { numRuns: 500 },
    );
    // Otherwise nothing was read by differences, or nothing as a whole.
    expect([shared > 200, plain - shared > 200]).toEqual([true, true]);
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
