import { expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { SharedCaches } from './shared-caches.js';

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const object = (name: string): KubernetesObject => ({ metadata: { namespace: 'default', name } });

it('a trim that throws for one event is reported and retried; the process goes on', async () => {
  const clock = new FakeClock();
  const server = new MemoryResource<KubernetesObject>(clock);
  const errors: string[] = [];
  const trim = (_: unknown, one: KubernetesObject) => {
    if (one.metadata.name === 'bad') throw new Error('boom');
    return one;
  };
  const caches = new SharedCaches({ clock, backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 }, open: () => server, trim });
  const cache = caches.subscribe(PODS, { onChange: () => undefined, onError: (error) => errors.push(String(error)) });
  cache.start();
  await clock.advance(10);
  expect(() => server.put(object('bad'))).not.toThrow();
  expect(errors).toEqual(['Error: boom']);
  await clock.advance(1_000);
  expect(errors.length).toBeGreaterThan(1);
});
