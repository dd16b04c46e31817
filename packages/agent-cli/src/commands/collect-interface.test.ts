import { describe, expect, it } from 'vitest';
import { collectInterface } from './collect-interface.js';

describe('--interface POOL=INTERFACE', () => {
  it('collects the interfaces of each pool', () => {
    const once = collectInterface('net-48=eth1');
    expect(collectInterface('net-49=eth1', collectInterface('net-48=eth2', once))).toEqual(
      new Map([
        ['net-48', ['eth1', 'eth2']],
        ['net-49', ['eth1']],
      ]),
    );
  });

  it.each(['net-48', '=eth1', 'net-48=', 'net-48=an interface', 'net-48=sixteen-octets-x', 'a=b=c'])('%s is refused', (text) => {
    expect(() => collectInterface(text)).toThrow('write POOL=INTERFACE, as in net-48=eth1.');
  });

  it('the same twice is refused', () => {
    expect(() => collectInterface('net-48=eth1', collectInterface('net-48=eth1'))).toThrow('it is given twice.');
  });
});
