import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatUtcTime, parseUtcTime } from './utc-time.js';

const seconds = fc.integer({ min: Date.UTC(1600, 0, 1) / 1_000, max: Date.UTC(9999, 11, 31) / 1_000 });

it('law: day of the week, date and time agree with Date and are read back', () => {
  fc.assert(
    fc.property(seconds, (second) => {
      const iso = new Date(1_000 * second);
      const [weekday, date = '', timeOfDay = ''] = formatUtcTime(1_000 * second).split(' ');
      expect(Number(weekday)).toBe(iso.getUTCDay());
      expect(`${date.replaceAll('/', '-')}T${timeOfDay}.000Z`).toBe(iso.toISOString());
      expect(parseUtcTime(date, timeOfDay)).toBe(1_000 * second);
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  ['2026/02/29', '00:00:00'],
  ['2026/00/01', '00:00:00'],
  ['2026/13/01', '00:00:00'],
  ['2026/01/32', '00:00:00'],
  ['2026/01/00', '00:00:00'],
  ['26/01/01', '00:00:00'],
  ['2026/01/01', '24:00:00'],
  ['2026/01/01', '00:60:00'],
  ['2026/01/01', '00:00:61'],
  ['2026/01/01', '00:00'],
])('%s %s is not a time', (date, timeOfDay) => expect(parseUtcTime(date, timeOfDay)).toBeUndefined());
