import { expect, it } from 'vitest';
import { Places } from './places.js';

it('each user has a number of places, independent of others, and a freed place can be used again', () => {
  const places = new Places<number>(2);
  expect([places.take('ann', 1), places.take('ann', 2), places.take('ann', 3), places.take('bob', 3)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect([places.has('ann', 2), places.has('ann', 3), places.has(null, 1)]).toEqual([true, false, false]);
  places.free('ann', 3);
  places.free('ann', 1);
  expect([places.take('ann', 4), places.take('ann', 5)]).toEqual([true, false]);
});
