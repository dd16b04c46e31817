import { CommandError } from '@vmdhcp/service-process';
import { describe, expect, it } from 'vitest';
import { clientIn, machineIn } from './subject.js';

describe('what a person names', () => {
  it.each([
    ['192.168.48.17', { kind: 'address', address: 0xc0a83011 }],
    ['02-00-5E-10-00-01', { kind: 'mac-address', macAddress: '02:00:5e:10:00:01' }],
    ['web', undefined],
    ['default/999.1.1.1', undefined],
    ['10.1.1', undefined],
  ])('%s', (text, expected) => {
    expect(clientIn(text)).toEqual(expected);
  });

  it.each(['999.1.1.1', '1.2.3.256'])('%s looks like an address, but is not valid', (text) => {
    expect(() => clientIn(text)).toThrow(
      `${text} is not an IPv4 address; if it is the name of a virtual machine, write NAMESPACE/NAME`,
    );
  });

  it.each([
    ['web', { namespace: 'here', name: 'web' }],
    ['vm/web', { namespace: 'here', name: 'web' }],
    ['there/web.1', { namespace: 'there', name: 'web.1' }],
    ['virtualmachine/there/web', { namespace: 'there', name: 'web' }],
  ])('%s is a virtual machine', (text, expected) => {
    expect(machineIn(text, 'here')).toEqual(expected);
  });

  it.each(['a/b/c', '', 'a/', '/a', '02:00:5e:10:00', 'Web', 'a b'])('%j is not valid', (text) => {
    expect(() => machineIn(text, 'here')).toThrow(CommandError);
  });
});
