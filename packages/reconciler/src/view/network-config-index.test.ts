import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { NetworkConfigIndex } from './network-config-index.js';

const mac = (text: string) => parseMacAddress(`02:00:00:00:00:${text}`) as InterfaceClaim['macAddress'];
const address = (text: string) => parseIpv4Address(text) as NonNullable<InterfaceClaim['wanted']>;
const [A, B] = [mac('0a'), mac('0b')];

function config(key: string, claims: readonly InterfaceClaim[], more: Partial<NetworkConfigClaims> = {}): NetworkConfigClaims {
  return { key, createdAt: '2026-01-01T00:00:00Z', paused: false, claims, unreadable: [], ...more } as NetworkConfigClaims;
}

describe('configs by network and by MAC address', () => {
  it('a claim is found on its network only', () => {
    const index = new NetworkConfigIndex();
    expect([...index.update('d/vm-a', config('d/vm-a', [{ network: 'd/n1', macAddress: A }]))]).toEqual(['d/n1']);
    expect([...index.on('d/n1')]).toEqual(['d/vm-a']);
    expect([...index.on('d/n2')]).toEqual([]);
    expect([...index.claiming('d/n1', A)]).toEqual(['d/vm-a']);
    expect([...index.claiming('d/n1', B)]).toEqual([]);
    expect([...index.claiming('d/n2', A)]).toEqual([]);
  });

  it('a claim that moves to another network changes both', () => {
    const index = new NetworkConfigIndex();
    index.update('d/vm-a', config('d/vm-a', [{ network: 'd/n1', macAddress: A }]));
    expect([...index.update('d/vm-a', config('d/vm-a', [{ network: 'd/n2', macAddress: A }]))].toSorted()).toEqual([
      'd/n1',
      'd/n2',
    ]);
    expect([[...index.on('d/n1')], [...index.claiming('d/n1', A)], [...index.on('d/n2')]]).toEqual([[], [], ['d/vm-a']]);
  });

  it.each<[string, Partial<InterfaceClaim>, boolean]>([
    ['another MAC address', { macAddress: B }, true],
    ['a pinned address', { wanted: address('10.0.0.9') }, true],
    ['the guest leaves the network', { isLeaving: true }, true],
    ['the address that it had before, which counts only until it is recorded', { previous: address('10.0.0.9') }, false],
    ['nothing', {}, false],
  ])('a change after which its network has to be planned again: %s', (_, change, isNews) => {
    const index = new NetworkConfigIndex();
    const claim: InterfaceClaim = { network: 'd/n1', macAddress: A };
    index.update('d/vm-a', config('d/vm-a', [claim]));
    expect(index.update('d/vm-a', config('d/vm-a', [{ ...claim, ...change }])).size > 0).toBe(isNews);
  });

  it('a deleted config claims nothing, and is news when it is created again with the same claims', () => {
    const index = new NetworkConfigIndex();
    const made = config('d/vm-a', [{ network: 'd/n1', macAddress: A }]);
    index.update('d/vm-a', made);
    expect([...index.update('d/vm-a', undefined)]).toEqual(['d/n1']);
    expect([[...index.on('d/n1')], [...index.claiming('d/n1', A)]]).toEqual([[], []]);
    expect([...index.update('d/vm-a', undefined)]).toEqual([]);
    expect([...index.update('d/vm-a', made)]).toEqual(['d/n1']);
    expect([...index.claiming('d/n1', A)]).toEqual(['d/vm-a']);
  });

  it('law: after any changes, including deleted configs, it finds the claims of the existing configs', () => {
    const claim = fc.record({ network: fc.constantFrom('d/n1', 'd/n2'), macAddress: fc.constantFrom(A, B) });
    const change = fc.tuple(
      fc.constantFrom('d/vm-a', 'd/vm-b'),
      fc.option(fc.array(claim, { maxLength: 2 }), { nil: undefined }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20, size: 'max' }), (changes) => {
        const index = new NetworkConfigIndex();
        const left = new Map<string, readonly InterfaceClaim[]>();
        for (const [key, claims] of changes) {
          index.update(key, claims && config(key, claims));
          if (claims === undefined) left.delete(key);
          else left.set(key, claims);
        }
        for (const network of ['d/n1', 'd/n2']) {
          const on = [...left].filter(([, claims]) => claims.some((one) => one.network === network));
          expect([...index.on(network)].toSorted()).toEqual(on.map(([key]) => key).toSorted());
          for (const one of [A, B]) {
            const claiming = on.filter(([, claims]) => claims.some((c) => c.network === network && c.macAddress === one));
            expect([...index.claiming(network, one)].toSorted()).toEqual(claiming.map(([key]) => key).toSorted());
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
