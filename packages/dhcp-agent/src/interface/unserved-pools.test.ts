import { describe, expect, it } from 'vitest';
import type { InterfaceState } from './interface-socket.js';
import { type ServingFacts, unservedPools } from './unserved-pools.js';

const FACTS: ServingFacts = {
  wanted: ['net'],
  planned: new Set(['net']),
  paused: new Set(),
  interfacesOf: new Map([['net', ['eth0']]]),
  stateOf: () => ({ kind: 'serving' }),
};

describe('the pools that are not served', () => {
  it('none: ready', () => {
    expect(unservedPools(FACTS)).toEqual([]);
  });

  it.each<[string, Partial<ServingFacts>, string]>([
    ['not planned', { planned: new Set() }, 'it is not in the pools file, or its leases are not recorded yet'],
    ['without an interface', { interfacesOf: new Map() }, 'no interface: give --interface net=IFACE'],
    ['being opened', { stateOf: () => ({ kind: 'opening' }) }, 'interface eth0 is being opened'],
    ['missing', { stateOf: () => ({ kind: 'missing' }) }, 'interface eth0 is missing'],
    ['failed', { stateOf: () => ({ kind: 'failed', message: 'EADDRINUSE' }) }, 'EADDRINUSE'],
  ])('%s', (_, facts, reason) => {
    expect(unservedPools({ ...FACTS, ...facts })).toEqual([{ pool: 'net', reason }]);
  });

  it('a paused pool is never reported', () => {
    expect(unservedPools({ ...FACTS, paused: new Set(['net']), planned: new Set(), interfacesOf: new Map() })).toEqual([]);
  });

  it('a pool is served only if all of its interfaces are, and every reason is reported', () => {
    const states: Record<string, InterfaceState> = {
      eth0: { kind: 'serving' },
      eth1: { kind: 'missing' },
      eth2: { kind: 'failed', message: 'EPERM' },
    };
    const facts = {
      ...FACTS,
      interfacesOf: new Map([['net', ['eth0', 'eth1', 'eth2']]]),
      stateOf: (name: string) => states[name] as InterfaceState,
    };
    const [unserved] = unservedPools(facts);
    expect(unserved?.reason).toContain('interface eth1 is missing');
    expect(unserved?.reason).toContain('EPERM');
  });

  it('each pool is judged by itself, in the order given', () => {
    const facts = {
      ...FACTS,
      wanted: ['a', 'b', 'c'],
      planned: new Set(['a', 'c']),
      interfacesOf: new Map([
        ['a', ['eth0']],
        ['c', ['eth1']],
      ]),
      stateOf: (name: string): InterfaceState => ({ kind: name === 'eth0' ? 'serving' : 'missing' }),
    };
    expect(unservedPools(facts).map(({ pool }) => pool)).toEqual(['b', 'c']);
  });
});
