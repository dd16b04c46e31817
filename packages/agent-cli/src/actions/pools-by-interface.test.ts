import { describe, expect, it } from 'vitest';
import { poolsByInterface } from './pools-by-interface.js';

const file = (...names: readonly string[]) => ({ pools: new Map(names.map((name) => [name, {} as never])) });
/** `net-48=eth1` each. */
const given = (...options: readonly string[]) => {
  const interfaces = new Map<string, string[]>();
  for (const option of options) {
    const [pool = '', name = ''] = option.split('=');
    interfaces.set(pool, [...(interfaces.get(pool) ?? []), name]);
  }
  return interfaces;
};

describe('poolsByInterface', () => {
  it.each([
    [['net-48=eth1'], { eth1: ['default/net-48'] }],
    [['default/net-48=eth1', 'net-49=eth1'], { eth1: ['default/net-48', 'default/net-49'] }],
    [['net-49=eth1', 'net-48=eth1'], { eth1: ['default/net-49', 'default/net-48'] }],
    [['net-48=eth1', 'net-48=eth2'], { eth1: ['default/net-48'], eth2: ['default/net-48'] }],
  ])('%j serves %j', (options, expected) => {
    expect(Object.fromEntries(poolsByInterface(given(...options), file('default/net-48', 'default/net-49')))).toEqual(expected);
  });

  it('a pool that the file lacks, or has twice, is reported with the existing ones', () => {
    const pools = file('default/net-48', 'prod/net-48', 'default/net-49');
    expect(() => poolsByInterface(given('net-50=eth1'), pools)).toThrow(
      '--interface net-50=eth1: there is no such pool; the file has default/net-48, prod/net-48',
    );
    expect(() => poolsByInterface(given('net-48=eth1'), pools)).toThrow('it could be default/net-48 or prod/net-48');
    expect(() => poolsByInterface(given('8=eth1'), pools)).toThrow('there is no such pool');
  });
});
