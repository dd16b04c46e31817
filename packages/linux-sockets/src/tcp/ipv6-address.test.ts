import { describe, expect, it } from 'vitest';
import { ipv6Octets } from './ipv6-address.js';

describe('ipv6Octets', () => {
  it.each([
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['fd00::5', 'fd000000000000000000000000000005'],
    ['fd00::', 'fd000000000000000000000000000000'],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
    ['::ffff:10.1.2.3', '00000000000000000000ffff0a010203'],
  ])('%s', (text, hex) => {
    expect(ipv6Octets(text).toString('hex')).toBe(hex);
  });

  it.each(['10.0.0.1', 'fe80::1%eth0', '', 'fd00'])('refuses %j', (text) => {
    expect(() => ipv6Octets(text)).toThrow('is not an IPv6 address');
  });
});
