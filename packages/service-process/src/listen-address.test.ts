import { describe, expect, it } from 'vitest';
import { formatListenAddress, parseListenAddress, requiredListenAddress } from './listen-address.js';

describe('parseListenAddress', () => {
  it.each([
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['localhost:8080', { host: 'localhost', port: 8080 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['[fd00::5]:8080', { host: 'fd00::5', port: 8080 }],
    // What $(POD_IP):8080 becomes in a pod with an IPv6 address.
    ['fd00::5:8080', { host: 'fd00::5', port: 8080 }],
    ['2001:db8:1:2:3:4:5:6:8080', { host: '2001:db8:1:2:3:4:5:6', port: 8080 }],
    ['fd00:10:244::8080:65535', { host: 'fd00:10:244::8080', port: 65_535 }],
    ['::1:8080', { host: '::1', port: 8080 }],
    [':::8080', { host: '::', port: 8080 }],
    ['[::]:8080', { host: '::', port: 8080 }],
    ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
    [':8080', { host: '::', port: 8080 }],
    // A name, because it has one colon.
    ['fd00:8080', { host: 'fd00', port: 8080 }],
    ['off', 'off'],
  ])('%s', (text, expected) => {
    expect(parseListenAddress(text)).toEqual(expected);
  });

  it.each([
    '8080',
    'host:99999',
    'a b:80',
    '',
    ':',
    '[]:80',
    '[127.0.0.1]:80',
    '[fd00::5]',
    'fd00::5',
    '2001:db8:1:2:3:4:5:8080',
    'fd00::5::8080',
    'g::1:8080',
    '[fd00::5:8080',
  ])('refuses %j', (text) => {
    expect(() => parseListenAddress(text)).toThrow('write HOST:PORT');
  });

  it.each(['off', 'x', ':'])('a required address: %j is refused, with a remedy', (text) => {
    const parse = requiredListenAddress('127.0.0.1:8068', 'to do without, leave out --ui');
    expect(parse('127.0.0.1:80')).toEqual({ host: '127.0.0.1', port: 80 });
    expect(() => parse(text)).toThrow('write HOST:PORT, as in 127.0.0.1:8068; to do without, leave out --ui.');
  });

  it.each(['127.0.0.1:8080', '[fd00::5]:8080', 'localhost:80'])('%s is formatted as it was parsed', (text) => {
    const address = parseListenAddress(text);
    expect(address === 'off' ? address : formatListenAddress(address)).toBe(text);
  });
});
