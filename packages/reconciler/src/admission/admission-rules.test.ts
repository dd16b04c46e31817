import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ADMISSION_RULES } from './admission-rules.js';

/** The schema finds these first, under another reason, or they concern only manifests; their tests are in the packages that find them. */
const ELSEWHERE = new Set([
  'nested-too-deeply',
  'no-object',
  'unknown-kind',
  'not-a-cidr',
  'not-text',
  'number-out-of-bounds',
  'too-many',
]);

describe('the table of rules', () => {
  const folder = new URL('.', import.meta.url);
  const tests = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts') && name !== 'admission-rules.test.ts')
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');

  it.each(Object.entries(ADMISSION_RULES).filter(([reason]) => !ELSEWHERE.has(reason)))('%s is in a table', (reason) => {
    expect(tests.includes(reason), 'a test looks for it').toBe(true);
  });
});
