import { expect, it } from 'vitest';
import { fnv1a64 } from './fnv1a64.js';

it.each([
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['foobar', '85944171f73967e8'],
])('fnv1a64 of %j, as draft-eastlake-fnv has it', (text, hash) => {
  expect(fnv1a64(text).toString(16)).toBe(hash);
});
