import { expect, it } from 'vitest';
import type { ResourcePort } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { SharedCaches } from './shared-caches.js';

it('refreshes that come faster than lists end are served nevertheless', async () => {
  const clock = new FakeClock();
  const port: ResourcePort<KubernetesObject> = {
    list: async () => {
      await new Promise<void>((resolve) => clock.after(2_000, resolve));
      return { items: [], resourceVersion: '1' };
    },
    watch: () => () => undefined,
  };
  const caches = new SharedCaches({ clock, backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 }, open: () => port });
  const cache = caches.subscribe({ group: '', version: 'v1', plural: 'pods', namespaced: true }, { onChange: () => undefined });
  cache.start();
  await clock.advance(5_000);
  let served = 0;
  for (let second = 0; second < 30; second++) {
    void cache.refresh().then(() => served++);
    await clock.advance(1_000);
  }
  expect(served).toBeGreaterThan(20);
});

it('a refresh ends when its subscription stops; otherwise its caller could not stop', async () => {
  const clock = new FakeClock();
  const port: ResourcePort<KubernetesObject> = {
    list: () => new Promise(() => undefined),
    watch: () => () => undefined,
  };
  const caches = new SharedCaches({ clock, backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 }, open: () => port });
  const cache = caches.subscribe({ group: '', version: 'v1', plural: 'pods', namespaced: true }, { onChange: () => undefined });
  cache.start();
  let ended = false;
  void cache.refresh().then(() => {
    ended = true;
  });
  await clock.advance(1_000);
  cache.stop();
  await clock.advance(1_000);
  expect(ended).toBe(true);
});
