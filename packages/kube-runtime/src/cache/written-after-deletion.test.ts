import { expect, it } from 'vitest';
import type { WatchHandlers } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { ObjectCache } from './object-cache.js';

const object = (uid: string, resourceVersion: string): KubernetesObject => ({
  metadata: { namespace: 'default', name: 'a', uid, resourceVersion },
});

async function start() {
  const clock = new FakeClock();
  let handlers: WatchHandlers<KubernetesObject> | undefined;
  const cache = new ObjectCache<KubernetesObject>({
    port: {
      list: async () => ({ items: [object('old', '5')], resourceVersion: '5' }),
      watch: (_, given) => {
        handlers = given;
        return () => undefined;
      },
    },
    clock,
    backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 },
    onChange: () => undefined,
  });
  cache.start();
  await clock.advance(10);
  return { cache, handlers: handlers as unknown as WatchHandlers<KubernetesObject> };
}

it('fact 13: an object that was created again stays readable when the watch reports the earlier deletion', async () => {
  const { cache, handlers } = await start();
  // Deleted at version 10, created again at version 11; the watch lags behind.
  cache.wrote(object('new', '11'));
  handlers.onEvent({ type: 'deleted', object: object('old', '10') });
  expect(cache.get('default/a')?.metadata.uid).toBe('new');
  handlers.onEvent({ type: 'added', object: object('new', '11') });
  expect(cache.get('default/a')?.metadata.uid).toBe('new');
});
