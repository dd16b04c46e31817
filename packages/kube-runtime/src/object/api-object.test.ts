import { expect, it } from 'vitest';
import { keyOf } from './api-object.js';

it.each([
  [{ name: 'a' }, 'a'],
  [{ name: 'a', namespace: '' }, 'a'],
  [{ name: 'a', namespace: 'default' }, 'default/a'],
])('the key of %j is %s', (metadata, key) => {
  expect(keyOf({ metadata })).toBe(key);
});
