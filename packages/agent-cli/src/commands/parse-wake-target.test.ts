import { expect, it } from 'vitest';
import { parseMachineAddress, parsePassword } from './parse-wake-target.js';

it.each(['00:00:00:00:00:00', '01:00:5e:00:00:01', 'vm-a'])('%s is not the address of a machine', (text) =>
  expect(() => parseMachineAddress(text)).toThrow(/no machine has this address|write six octets/),
);

it('a password from a Secret may end with a line end', () => {
  expect(parsePassword('192.168.1.1\n')).toEqual(Uint8Array.of(192, 168, 1, 1));
});

it('an invalid password is not shown: it may be another value of a Secret', () => {
  const key = '-----BEGIN PRIVATE KEY-----';
  expect(() => parsePassword(key)).toThrow('write four or six octets');
  expect(() => parsePassword(key)).not.toThrow(key);
});
