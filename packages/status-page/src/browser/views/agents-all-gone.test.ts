import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { afterAll, expect, it, vi } from 'vitest';
import { ChangeFeed } from '../../live/change-feed.js';
import { createClusterSource } from '../../source/cluster-source.js';
import { GroupsView } from './groups-view.js';
import type { PageContext } from './page-context.js';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const LEASE = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    namespace: 'agents',
    name: 'vm-dhcp-agent-1',
    labels: { [AGENT_LABEL]: AGENT_LABEL_VALUE },
    annotations: { [AGENT_REPORT_ANNOTATION]: JSON.stringify({ 'default/net-1': { serving: true } }) },
  },
  spec: { holderIdentity: 'agent-1_x', leaseDurationSeconds: 3, renewTime: '2026-01-01T00:09:59.000000Z' },
} as KubernetesObject;

/** Enough of a document for the constructor of a view. */
const node = (): unknown => new Proxy({}, { get: (_, name) => (name === 'textContent' ? '' : () => node()), set: () => true });
vi.stubGlobal('document', { createElement: node, createElementNS: node, createTextNode: node });
afterAll(() => {
  vi.unstubAllGlobals();
});

it('agents that are all gone appear on an open page', async () => {
  const clock = new FakeClock();
  const leases = new MemoryResource<KubernetesObject>(clock);
  void leases.create(LEASE);
  await clock.advance(100);
  const wall = { nowMs: NOW };
  const caches = new SharedCaches({
    open: ({ plural }) => (plural === 'leases' ? leases : new MemoryResource<KubernetesObject>(clock)),
    clock,
    backOff: { firstMs: 1, mostMs: 1, random: () => 0 },
  });
  const source = createClusterSource({
    ...{ caches, instance: 'one', onlyNamespace: undefined, agentsNamespace: 'agents', hasWakeOnLan: false },
    ...{ events: async () => [], hostStatuses: undefined, isLeading: () => true, wallTimeMs: () => wall.nowMs },
    onError: () => undefined,
  });
  source.start();
  await clock.advance(100);
  const feed = new ChangeFeed(source, clock);
  const events: string[] = [];
  feed.add({ pool: undefined, version: undefined, sections: source.sections, send: (text) => events.push(text) });
  const loaded = source.agents();
  expect(loaded.groups).toMatchObject([{ state: 'ok', leader: 'agent-1' }]);

  // Every agent is dead: nobody writes the Lease.
  for (let minute = 0; minute < 60; minute++) {
    wall.nowMs += 60_000;
    await clock.advance(60_000);
  }
  expect(source.agents().groups, 'what the server would answer').toMatchObject([{ state: 'broken', leader: '' }]);
  const view = new GroupsView({ nowMs: () => wall.nowMs } as unknown as PageContext);
  source.stop();
  // Page.#changeSections loads again for an event of the section, Page.#loadWhatNoEventTells after `reloadMs`.
  const reloads = {
    events: events.filter((text) => text.includes('agents')).length,
    reloadMs: (view as { reloadMs?: number }).reloadMs,
  };
  expect(reloads, 'why the page would ask again').not.toEqual({ events: 0, reloadMs: undefined });
});
