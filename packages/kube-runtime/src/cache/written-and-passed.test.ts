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

it('a write outside the selection is forgotten when the watch has passed its version', async () => {
  const { cache, handlers } = await start();
  const other: KubernetesObject = { metadata: { namespace: 'other', name: 'b', uid: 'b', resourceVersion: '11' } };
  cache.wrote(other);
  handlers.onEvent({ type: 'bookmark', resourceVersion: '20' });
  expect(cache.get('other/b')).toBeUndefined();
});
