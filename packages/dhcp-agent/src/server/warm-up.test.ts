import { expect, it } from 'vitest';
import { warmUpPacketPath } from './warm-up.js';

it.each([0, 1, 1_000])('answers each of %i messages, so that the whole path has run', (messages) => {
  expect(warmUpPacketPath({ messages })).toBe(messages);
});
