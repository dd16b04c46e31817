import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool } from '../fixtures/object-fixtures.js';
import { ClusterView } from './cluster-view.js';
import type { PoolView } from './pool-views.js';
import { SharedSegments } from './shared-segments.js';

const SEGMENT = 'bridge mgmt-br, VLAN 48';

function bridged(name: string, vlan = 48): KubernetesObject {
  return { ...network(name), spec: { config: JSON.stringify({ type: 'bridge', bridge: 'mgmt-br', vlan }) } };
}

/** `pool-1` on `net-1` and so on, each a second younger than the one before. */
function observing(count: number) {
  const [networks, ipPools] = [new Map<string, KubernetesObject>(), new Map<string, KubernetesObject>()];
  const view = new ClusterView({ virtualMachines: new Map(), networks, ipPools, networkConfigs: new Map() });
  const segments = new SharedSegments(view, networks);
  const putNetwork = (object: KubernetesObject) => {
    networks.set(keyOf(object), object);
    return segments.noteNetwork(keyOf(object));
  };
  const putPool = (name: string, on: string, more: { readonly paused?: boolean; readonly second?: number } = {}) => {
    const { paused = false, second = 9 } = more;
    const one = pool(name, { network: `default/${on}`, paused });
    const metadata = { ...one.metadata, creationTimestamp: `2026-01-01T00:00:0${second}Z` };
    ipPools.set(keyOf(one), { ...one, metadata });
    view.notePool(keyOf(one));
    return segments.noteNetwork(`default/${on}`);
  };
  const removePool = (name: string, on: string) => {
    ipPools.delete(`default/${name}`);
    view.notePool(`default/${name}`);
    return segments.noteNetwork(`default/${on}`);
  };
  const sharedBy = (name: string) => segments.sharedBy(view.pool(`default/${name}`) as PoolView);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (const number of numbers) {
    putNetwork(bridged(`net-${number}`));
    putPool(`pool-${number}`, `net-${number}`, { second: number });
  }
  const look = () => numbers.map((number) => sharedBy(`pool-${number}`)?.sibling);
  return { segments, putNetwork, putPool, removePool, sharedBy, look };
}

describe('pools whose networks are one segment', () => {
  it('share it with the oldest other pool, and are checked at once', () => {
    const { segments, sharedBy, putNetwork, look } = observing(3);
    expect(look()).toEqual(['default/pool-2', 'default/pool-1', 'default/pool-1']);
    expect(sharedBy('pool-1')).toEqual({ segment: SEGMENT, sibling: 'default/pool-2' });
    for (const name of ['net-1', 'net-2', 'net-3']) expect(segments.noteNetwork(`default/${name}`)).toEqual([]);
    expect(putNetwork(bridged('net-2')), 'written again as it was').toEqual([]);
  });

  it('are checked when the segment of another network becomes theirs, changes, and becomes it again', () => {
    const { putNetwork, look } = observing(2);
    look();
    expect(putNetwork(bridged('net-2', 50))).toEqual(['default/pool-1']);
    expect(look()).toEqual([undefined, undefined]);
    expect(putNetwork(bridged('net-2'))).toEqual(['default/pool-1']);
    expect(look()).toEqual(['default/pool-2', 'default/pool-1']);
  });

  it('are not checked when one pool leaves and they still share it with a third one', () => {
    const { putNetwork, look } = observing(3);
    look();
    expect(putNetwork(bridged('net-1', 50))).toEqual([]);
    expect(look()).toEqual([undefined, 'default/pool-3', 'default/pool-2']);
    expect(putNetwork(bridged('net-2', 50)), 'the one left behind, and the one it joins').toEqual([
      'default/pool-1',
      'default/pool-3',
    ]);
  });

  it('are checked when another pool serves the network', () => {
    const { segments, putPool, removePool, look, sharedBy } = observing(2);
    look();
    expect(putPool('pool-9', 'net-1'), 'the older one goes on to serve').toEqual([]);
    expect(sharedBy('pool-9')).toBeUndefined();
    removePool('pool-1', 'net-1');
    expect(segments.noteNetwork('default/net-2')).toEqual(['default/pool-9']);
    expect(sharedBy('pool-9')?.sibling).toBe('default/pool-2');
    expect(segments.noteNetwork('default/net-2')).toEqual([]);
  });

  it('share nothing while they are not served', () => {
    const { putPool, sharedBy, look } = observing(2);
    look();
    expect(putPool('pool-2', 'net-2', { paused: true, second: 2 })).toEqual(['default/pool-1']);
    expect([sharedBy('pool-1'), sharedBy('pool-2')]).toEqual([undefined, undefined]);
    expect(putPool('pool-2', 'net-2', { second: 2 })).toEqual(['default/pool-1']);
  });
});

it('a network without a pool, or without a segment, affects no pools', () => {
  const { segments, putNetwork, putPool } = observing(1);
  expect(segments.noteNetwork('default/unknown')).toEqual([]);
  expect(putNetwork(bridged('net-8'))).toEqual([]);
  expect(putNetwork(network('net-9'))).toEqual([]);
  expect(putPool('pool-9', 'net-9')).toEqual([]);
});
