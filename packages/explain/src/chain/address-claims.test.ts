import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { findAddressClaims } from './address-claims.js';
import { ADDRESS, MAC, NETWORK, OTHER_MAC } from './chain-fixtures.js';

interface Claim {
  readonly name: string;
  /** Undefined if its status has no entry. */
  readonly state?: 'Allocated' | 'Pending' | 'Stale';
  readonly address?: string;
  readonly macAddress?: string;
  readonly day?: string;
}

function config({ name, state, address = ADDRESS, macAddress = MAC, day = '02' }: Claim): KubernetesObject {
  const entry = { networkName: NETWORK, macAddress };
  return {
    metadata: { namespace: 'default', name, creationTimestamp: `2026-01-${day}T00:00:00Z` },
    spec: { networkConfigs: [entry] },
    ...(state !== undefined && { status: { networkConfigs: [{ ...entry, allocatedIPAddress: address, state }] } }),
  };
}

const OWNER: Claim = { name: 'owner', state: 'Allocated' };
const namesOf = (claims: readonly Claim[]) =>
  findAddressClaims(claims.map(config), { macAddress: MAC, network: NETWORK, address: ADDRESS }).map(
    ({ config: { metadata }, hasAddress }) => `${metadata.name}${hasAddress ? ' has it' : ''}`,
  );

describe('which of several configs with one MAC address has the address', () => {
  it.each<[string, readonly Claim[], readonly string[]]>([
    ['the only one', [OWNER], ['owner has it']],
    ['a later claim before it by name', [{ name: 'a', day: '03' }, OWNER], ['owner has it', 'a']],
    ['a later claim after it by name', [OWNER, { name: 'z', day: '03', state: 'Pending' }], ['owner has it', 'z']],
    ['an older claim that waits', [{ name: 'a', day: '01', state: 'Pending' }, OWNER], ['owner has it', 'a']],
    [
      'a claim that has another address',
      [{ name: 'a', day: '01', state: 'Allocated', address: '10.1.0.98' }, OWNER],
      ['owner has it', 'a'],
    ],
    ['an address that is being freed', [{ name: 'a', day: '01', state: 'Stale' }, OWNER], ['owner has it', 'a']],
    [
      'none has it yet: the oldest first',
      [
        { name: 'a', day: '03' },
        { name: 'z', day: '01' },
      ],
      ['z', 'a'],
    ],
    ['another MAC address', [{ name: 'a', macAddress: OTHER_MAC, state: 'Allocated' }], []],
  ])('%s', (_what, claims, expected) => {
    expect(namesOf(claims)).toEqual(expected);
    expect(namesOf(claims.toReversed())).toEqual(expected);
  });

  it('without a record in a pool, the first config that shows an address has it', () => {
    const claims = [{ name: 'a', day: '01' }, OWNER].map(config);
    const [first] = findAddressClaims(claims, { macAddress: MAC, network: NETWORK, address: undefined });
    expect(first?.config.metadata.name).toBe('owner');
  });

  it('the same MAC address on another network belongs to another client', () => {
    const elsewhere = { macAddress: MAC, network: 'default/other', address: ADDRESS };
    expect(findAddressClaims([config(OWNER)], elsewhere)).toEqual([]);
    expect(findAddressClaims([config(OWNER)], { ...elsewhere, network: undefined })).toHaveLength(1);
  });
});
