import { parseIpv4Address, parseIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { readConditions } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { ClusterNetworks } from '../admission/admission-facts.js';
import { NO_CLUSTER_NETWORKS } from '../admission/admission-facts.js';
import { findClusterOverlaps } from '../admission/cluster-overlaps.js';
import { sentenceOf } from '../explanation.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { PoolViews } from '../view/pool-views.js';
import { Running } from './controller-fixtures.js';

/** Addresses of the pool of the fixtures. */
function overlapsWith(networks: ClusterNetworks): string {
  const { reading } = new PoolViews().of(pool('pool-1'));
  if (!reading.ok) throw new Error('the pool of the fixtures is invalid');
  return findClusterOverlaps(reading.pool, networks).map(sentenceOf).join('; ');
}

const cidr = (text: string) => [parseIpv4Cidr(text) ?? []].flat() as ClusterNetworks['podCidrs'];
const address = (text: string) => [parseIpv4Address(text) ?? 0];

describe('a pool with addresses that the cluster needs itself', () => {
  it.each<[string, Partial<ClusterNetworks>]>([
    ['OverlapsServiceCidr', { serviceCidrs: cidr('10.0.0.0/8') }],
    ['OverlapsPodCidr', { podCidrs: cidr('10.0.0.0/8') }],
    ['IsApiServer', { apiServers: address('10.0.0.10') }],
  ])('%s: it is served, with a warning that has the same text as the refusal of admission', async (reason, some) => {
    const networks = { ...NO_CLUSTER_NETWORKS, ...some };
    const running = new Running({}, { clusterNetworks: networks });
    await running.add(network(), pool('pool-1'), virtualMachine('vm-a'));
    await running.started();
    const stored = running.cluster.ipPools.objects.get('default/pool-1');
    const ready = readConditions(stored?.status).find(({ type }) => type === 'CacheReady');
    expect([ready?.status, ready?.reason, ready?.message]).toEqual(['True', reason, overlapsWith(networks)]);
    expect(running.events()).toContain(`${reason} on IPPool pool-1`);
    expect(Object.keys(running.allocated())).toHaveLength(1);
  });

  it('no such network: no warning', async () => {
    const running = new Running({}, { clusterNetworks: { ...NO_CLUSTER_NETWORKS, serviceCidrs: cidr('172.16.0.0/12') } });
    await running.add(network(), pool('pool-1'));
    await running.started();
    expect(running.conditions('IPPool', 'pool-1')).toContain('CacheReady=True');
  });
});
