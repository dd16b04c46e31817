import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { readNetworkConfigClaims } from '../network-config/interface-claims.js';
import { PersistentMap } from '../pool/persistent-map.js';
import { PoolViews } from '../view/pool-views.js';
import { ConfigNews } from './config-news.js';

const MACHINES = ['a', 'b', 'c'] as const;
const macOf = (name: string) => `02:00:00:00:00:0${name}` as MacAddress;
const configs = MACHINES.map((name): KubernetesObject => {
  const networkConfigs = [{ networkName: 'default/net-1', macAddress: macOf(name) }];
  return { metadata: { namespace: 'default', name }, spec: { networkConfigs } };
});
const claims = PersistentMap.of(configs.map((one) => [`default/${one.metadata.name}`, readNetworkConfigClaims(one)] as const));

/** A pool that has assigned an address to each of these machines. */
function pool(names: readonly string[], ipv6Config?: object): KubernetesObject {
  const ipv4Config = { cidr: '10.0.0.0/24', serverIP: '10.0.0.2', pool: { start: '10.0.0.10', end: '10.0.0.99' } };
  const allocated = Object.fromEntries(names.map((name, index) => [`10.0.0.${10 + index}`, macOf(name)]));
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'pool-1', uid: 'one', generation: ipv6Config === undefined ? 1 : 2 },
    spec: { networkName: 'default/net-1', ipv4Config, ...(ipv6Config !== undefined && { ipv6Config }) },
    status: { ipv4: { allocated } },
  };
}

it('only the configs that a plan changes are reconciled: one with a new address, all with another IPv6 prefix', () => {
  const [news, views] = [new ConfigNews(), new PoolViews()];
  const note = (object: KubernetesObject, names: readonly string[]) => {
    const owners = PersistentMap.of(names.map((name) => [macOf(name), `default/${name}`] as const));
    const claimants = (macAddress: MacAddress) => [`default/${macAddress.slice(-1)}`];
    return news.note(views.of(object), { owners, refusals: new Map() }, { claims, claimants }).toSorted();
  };
  const all = MACHINES.map((name) => `default/${name}`);
  expect(note(pool(['a']), ['a']), 'nothing was reported before').toEqual(all);
  expect(note(pool(['a', 'b']), ['a', 'b'])).toEqual(['default/b']);
  expect(note(pool(['a', 'b']), ['a', 'b'])).toEqual([]);
  expect(note(pool(['a', 'b'], { cidr: 'fd00::/64' }), ['a', 'b'])).toEqual(all);
  expect(note(pool(['a', 'b', 'c'], { cidr: 'fd00::/64', dns: ['fd00:1::1'] }), ['a', 'b', 'c'])).toEqual(['default/c']);
});
