import { expect, it } from 'vitest';
import { parsePassword } from './parse-wake-target.js';

it('a password of a Secret may end with the end of a line', () => {
  expect(parsePassword('192.168.1.1\n')).toEqual(Uint8Array.of(192, 168, 1, 1));
});

it('what is no password is not shown: it may be another value of a Secret', () => {
  const key = '-----BEGIN PRIVATE KEY-----';
  expect(() => parsePassword(key)).toThrow('write four or six octets');
  expect(() => parsePassword(key)).not.toThrow(key);
});
