import { expect, it } from 'vitest';
import { askedDelayMs, backOffMs } from './back-off.js';

it.each([
  [undefined, 0],
  [null, 0],
  ['text', 0],
  [new Error('x'), 0],
  [{ retryAfterMs: 2_000 }, 2_000],
  [{ retryAfterMs: '2000' }, 0],
  [{ retryAfterMs: 3_600_000 }, 60_000],
])('reads from the error %j that the server asks for a delay of %d ms', (error, delayMs) => {
  expect(askedDelayMs(error)).toBe(delayMs);
});

it.each([
  [1, 0, 50],
  [1, 1, 100],
  [2, 0, 100],
  [3, 0.5, 300],
  [5, 1, 1_000],
  [10_000, 0, 500],
])('after %d failures, the delay of the random number %d is %d ms', (failures, random, delayMs) => {
  expect(backOffMs(failures, { firstMs: 100, mostMs: 1_000, random: () => random })).toBe(delayMs);
});
