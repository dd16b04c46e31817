import { expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { SharedCaches } from './shared-caches.js';

it('fact 23: the answer to a write is trimmed and frozen like everything else in a cache', async () => {
  const clock = new FakeClock();
  const server = new MemoryResource<KubernetesObject>(clock);
  const caches = new SharedCaches({ clock, backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 }, open: () => server });
  const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
  const [one, other] = [1, 2].map(() => caches.subscribe(pods, { onChange: () => undefined }));
  one?.start();
  other?.start();
  await clock.advance(10);
  const metadata = { namespace: 'default', name: 'a', uid: 'a', resourceVersion: '9', managedFields: [{ manager: 'x' }] };
  one?.wrote({ metadata, spec: { list: [1] } });
  const seen = other?.get('default/a');
  expect(seen?.metadata).not.toHaveProperty('managedFields');
  expect([Object.isFrozen(seen), Object.isFrozen(seen?.spec)]).toEqual([true, true]);
});

it('an own write is listed before the watch shows it, and no longer when the watch has passed it', async () => {
  const clock = new FakeClock();
  const server = new MemoryResource<KubernetesObject>(clock);
  const caches = new SharedCaches({ clock, backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 }, open: () => server });
  const pods = caches.subscribe({ group: '', version: 'v1', plural: 'pods', namespaced: true }, { onChange: () => undefined });
  pods.start();
  await clock.advance(10);
  const names = () => [...pods.values()].map(({ metadata }) => metadata.name);
  pods.wrote({ metadata: { namespace: 'default', name: 'a', uid: 'a', resourceVersion: '9' } });
  expect(names()).toEqual(['a']);
  for (let change = 0; change < 10; change++) server.put({ metadata: { namespace: 'default', name: 'b', uid: 'b' } });
  await clock.advance(1_000);
  expect(names()).toEqual(['b']);
});
