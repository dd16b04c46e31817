import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readAcceptedDifferences } from './accepted-differences.js';
import { withAcceptedTable } from './accepted-table.js';

it('the README lists the accepted differences (npm run generate)', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const accepted = readAcceptedDifferences(new URL('../../accepted-differences.json', import.meta.url));
  expect(withAcceptedTable(readme, accepted)).toBe(readme);
});

it('differences of one scenario for one reason share a row', () => {
  const readme = 'a\n<!-- accepted differences: made by npm run generate -->\nold\n<!-- end of accepted differences -->\nb';
  const table = withAcceptedTable(readme, [
    { scenario: '02', step: 1, where: 'body.a', reason: 'because' },
    { scenario: '01', step: 3, reason: 'so' },
    { scenario: '02', step: 2, where: 'body.a', reason: 'because' },
  ]);
  expect(table.split('\n').slice(4, 6)).toEqual(['| 01 | 3 | the whole step | so |', '| 02 | 1, 2 | `body.a` | because |']);
});
