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
