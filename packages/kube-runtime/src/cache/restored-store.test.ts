/** The store of the API server is restored from a snapshot: versions go back. */
import { expect, it } from 'vitest';
import type { WatchHandlers } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { ObjectCache } from './object-cache.js';

const object = (resourceVersion: string, text: string): KubernetesObject => ({
  metadata: { namespace: 'default', name: 'a', uid: 'a', resourceVersion },
  spec: { text },
});

it('an own write that the snapshot does not have is gone from the cache after the next list', async () => {
  const clock = new FakeClock();
  let stored = { version: '1000', items: [object('990', 'before')] };
  let handlers: WatchHandlers<KubernetesObject> | undefined;
  const cache = new ObjectCache<KubernetesObject>({
    port: {
      list: async () => ({ items: stored.items, resourceVersion: stored.version }),
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
  // The answer arrives; the watch ends before its event does, because the API server is stopped to be restored.
  cache.wrote(object('1001', 'written'));
  stored = { version: '500', items: [object('400', 'restored')] };
  handlers?.onEnd({ kind: 'expired' });
  await clock.advance(1_000);
  // A refresh by hand, as a new leader does.
  void cache.refresh();
  await clock.advance(1_000);
  expect(cache.get('default/a')?.spec).toEqual({ text: 'restored' });
});
