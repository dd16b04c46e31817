import { describe, expect, it } from 'vitest';
import { toOwnerReference } from '../apply/plan-owned-object.js';
import { SharedCaches } from '../cache/shared-caches.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { createController, ownerKeys } from './create-controller.js';

const SITES = { group: 'example.com', version: 'v1', plural: 'sites', namespaced: true };
const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const site = (name: string): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  metadata: { namespace: 'default', name, uid: name },
});
const pod = (name: string, owner: string): KubernetesObject => ({
  metadata: { namespace: 'default', name, ownerReferences: [toOwnerReference(site(owner))] },
});

function setUp() {
  const clock = new FakeClock();
  const backOff = { firstMs: 100, mostMs: 1_000, random: () => 0.5 };
  const servers = { sites: new MemoryResource(clock), pods: new MemoryResource(clock) };
  const caches = new SharedCaches({
    clock,
    backOff,
    open: ({ plural }) => (plural === 'sites' ? servers.sites : servers.pods),
  });
  const log: string[] = [];
  const controller = createController({
    name: 'sites',
    clock,
    backOff,
    caches,
    sources: { sites: { resource: SITES }, pods: { resource: PODS, keysOf: ownerKeys('Site') } },
    reconcile: async (key, { sites, pods }) => {
      log.push(`${key} ${sites.get(key) === undefined ? 'gone' : 'here'}, ${pods.size} pods`);
      return { kind: 'settled' };
    },
    onReadError: (source, error) => log.push(`${source}: ${(error as Error).message}`),
  });
  return { clock, ...servers, log, controller };
}

describe('a controller', () => {
  it('follows from the start and reconciles nothing before it is leader; then every key once, then changes', async () => {
    const { clock, sites, pods, log, controller } = setUp();
    sites.put(site('a'));
    pods.put(pod('a-1', 'a'));
    pods.put(pod('b-1', 'b'));
    expect([controller.name, controller.synced]).toEqual(['sites', false]);
    controller.start();
    await clock.advance(100);
    controller.add('default/a');
    expect([controller.synced, controller.depth, log]).toEqual([true, 0, []]);
    controller.lead();
    controller.lead();
    await clock.advance(100);
    expect(log).toEqual(['default/a here, 2 pods', 'default/b gone, 2 pods']);
    pods.put(pod('a-1', 'c'));
    await clock.advance(1);
    expect(log.slice(2), 'the former owner and the new one').toEqual(['default/a here, 2 pods', 'default/c gone, 2 pods']);
    pods.remove('default/b-1');
    await clock.advance(1);
    expect(log.slice(4), 'the owner of a deleted object').toEqual(['default/b gone, 1 pods']);
    controller.add('default/x');
    await clock.advance(1);
    expect(log.at(-1)).toBe('default/x gone, 1 pods');
  });

  it('begins with the state of the cluster when leadership begins, not with that of a lagging watch', async () => {
    const { clock, sites, log, controller } = setUp();
    controller.start();
    await clock.advance(100);
    sites.closeWatches('failed');
    sites.put(site('late'));
    log.length = 0;
    controller.lead();
    await clock.advance(2);
    expect(log).toEqual(['default/late here, 0 pods']);
  });

  it('names the source that cannot be read', async () => {
    const { clock, pods, log, controller } = setUp();
    pods.failNext = 1;
    controller.start();
    await clock.advance(10);
    expect([log, controller.unready?.()]).toEqual([['pods: HTTP 500'], ['pods: cannot be listed: HTTP 500']]);
    await clock.advance(1_000);
    expect(controller.unready?.()).toEqual([]);
  });

  it('stops: nothing is reconciled or watched any more, and no timer is left', async () => {
    const { clock, sites, log, controller } = setUp();
    controller.start();
    await clock.advance(100);
    controller.lead();
    await controller.stop();
    await clock.advance(100);
    sites.put(site('a'));
    controller.add('default/a');
    await clock.advance(600_000);
    expect([log, clock.pending]).toEqual([[], 0]);
  });

  it('ownerKeys: the managing owner of that kind, in the namespace of the object', () => {
    const keys = ownerKeys('Site');
    expect(keys(pod('p', 'a'))).toEqual(['default/a']);
    expect(keys(site('a'))).toEqual([]);
    expect(ownerKeys('Other')(pod('p', 'a'))).toEqual([]);
    const unmanaged = { ...toOwnerReference(site('a')), controller: false };
    expect(keys({ metadata: { name: 'p', ownerReferences: [unmanaged] } })).toEqual([]);
    expect(keys({ metadata: { name: 'p', ownerReferences: [toOwnerReference(site('a'))] } })).toEqual(['a']);
  });
});
