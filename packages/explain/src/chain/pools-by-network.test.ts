import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { poolsByNetwork } from './pools-by-network.js';

function pool(key: string, day: number, isUsed = false, networkName = 'default/net'): KubernetesObject {
  const [namespace = '', name = ''] = key.split('/');
  const status = { conditions: [{ type: 'CacheReady', status: isUsed ? 'True' : 'False' }] };
  const metadata = { namespace, name, creationTimestamp: `2026-01-0${day}T00:00:00Z` };
  return { metadata, spec: { networkName }, status } as unknown as KubernetesObject;
}

it.each<[string, readonly KubernetesObject[], string]>([
  ['one of its namespace before an older one of a tenant', [pool('default/own', 2), pool('tenant/pool', 1)], 'default/own'],
  ['one of a tenant that serves it', [pool('default/own', 1), pool('tenant/pool', 2, true)], 'tenant/pool'],
  ['one of its namespace where both serve it', [pool('tenant/pool', 1, true), pool('default/own', 2, true)], 'default/own'],
  ['the oldest of its namespace', [pool('default/b', 2), pool('default/a', 1), pool('default/c', 3)], 'default/a'],
  ['one that names it without a namespace', [pool('default/own', 2, false, 'net'), pool('tenant/pool', 1)], 'default/own'],
])('a network is explained by %s', (_, pools, key) => {
  for (const order of [pools, pools.toReversed()]) {
    const metadata = poolsByNetwork(order).get('default/net')?.metadata;
    expect(`${metadata?.namespace}/${metadata?.name}`).toBe(key);
  }
});
