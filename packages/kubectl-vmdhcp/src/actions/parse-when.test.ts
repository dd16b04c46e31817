import { expect, it } from 'vitest';
import { parseWhen } from './parse-when.js';

const NOW = Date.UTC(2026, 10, 23, 20, 0, 30, 500);

it.each<[string, number | undefined]>([
  ['2026-11-17T10:00:00Z', Date.UTC(2026, 10, 17, 10)],
  ['2026-11-17T10:00:00.7Z', Date.UTC(2026, 10, 17, 10)],
  ['2026-11-17T10:00:00+02:00', Date.UTC(2026, 10, 17, 8)],
  ['2026-11-17 10:00', new Date(2026, 10, 17, 10).getTime()],
  ['2026-11-17', new Date(2026, 10, 17).getTime()],
  ['90m', Date.UTC(2026, 10, 23, 18, 30, 30)],
  ['3d', Date.UTC(2026, 10, 20, 20, 0, 30)],
  ['1w', Date.UTC(2026, 10, 16, 20, 0, 30)],
  ['Tuesday', undefined],
  ['2026-13-01', undefined],
  ['2026-11-31 10:00', undefined],
  ['2026-02-29', undefined],
  ['2028-02-29', new Date(2028, 1, 29).getTime()],
  ['-3d', undefined],
  ['', undefined],
])('%s', (text, ms) => {
  expect(parseWhen(text, NOW)).toBe(ms);
});
