import { expect, it } from 'vitest';
import { SharedCaches } from '../cache/shared-caches.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { createController } from './create-controller.js';
import { runParts } from './run-parts.js';

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const backOff = { firstMs: 50, mostMs: 400, random: () => 0.5 };

it('an object whose keys cannot be computed concerns those that it concerned before', async () => {
  const clock = new FakeClock();
  const server = new MemoryResource<KubernetesObject>(clock);
  const caches = new SharedCaches({ clock, backOff, open: () => server });
  const [runs, errors] = [[] as string[], [] as unknown[]];
  const controller = createController({
    name: 'test',
    clock,
    backOff,
    caches,
    sources: {
      pods: {
        resource: PODS,
        keysOf: ({ spec }) => {
          if (typeof spec !== 'string') throw new Error('no key');
          return [spec];
        },
      },
    },
    onReadError: (_, error) => errors.push(error),
    reconcile: async (key) => {
      runs.push(key);
      return { kind: 'settled' };
    },
  });
  const run = runParts({ clock, parts: [controller] });
  server.put({ metadata: { name: 'a' }, spec: 'x' });
  run.start();
  await clock.advance(100);
  server.put({ metadata: { name: 'a' }, spec: 5 });
  await clock.advance(100);
  await run.stop();
  expect(errors).toHaveLength(1);
  expect(runs).toEqual(['x', 'x']);
});
