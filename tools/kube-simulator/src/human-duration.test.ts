import { expect, it } from 'vitest';
import { humanDuration } from './human-duration.js';

it.each([
  [-5, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [182, '3m2s'],
  [600, '10m'],
  [3 * 3600 + 120, '3h2m'],
  [9 * 3600 + 120, '9h'],
  [2 * 86_400, '2d'],
  [3 * 86_400 + 3600, '3d1h'],
  [400 * 86_400, '400d'],
  [800 * 86_400, '2y70d'],
])('%i seconds are %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
});
