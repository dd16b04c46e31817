/** Objects that this process wrote, in a cache whose watch lags behind, or whose store is restored. */
import { describe, expect, it } from 'vitest';
import type { WatchHandlers } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { ObjectCache } from './object-cache.js';

const object = (uid: string, resourceVersion: string): KubernetesObject => ({
  metadata: { namespace: 'default', name: 'a', uid, resourceVersion },
});

async function start() {
  const clock = new FakeClock();
  const store = { items: [object('old', '5')], resourceVersion: '5' };
  let handlers: WatchHandlers<KubernetesObject> | undefined;
  const cache = new ObjectCache<KubernetesObject>({
    port: {
      list: async () => ({ ...store }),
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
  return { cache, clock, store, handlers: handlers as unknown as WatchHandlers<KubernetesObject> };
}

describe('an object that this process wrote', () => {
  it('fact 13: that was created again stays readable when the watch reports the earlier deletion', async () => {
    const { cache, handlers } = await start();
    // Deleted at version 10, created again at version 11; the watch lags behind.
    cache.wrote(object('new', '11'));
    handlers.onEvent({ type: 'deleted', object: object('old', '10') });
    expect(cache.get('default/a')?.metadata.uid).toBe('new');
    handlers.onEvent({ type: 'added', object: object('new', '11') });
    expect(cache.get('default/a')?.metadata.uid).toBe('new');
  });

  it('outside of the selection is forgotten when the watch has passed its version', async () => {
    const { cache, handlers } = await start();
    const other: KubernetesObject = { metadata: { namespace: 'other', name: 'b', uid: 'b', resourceVersion: '11' } };
    cache.wrote(other);
    handlers.onEvent({ type: 'bookmark', resourceVersion: '20' });
    expect(cache.get('other/b')).toBeUndefined();
  });

  it('and that a snapshot of the store does not have is gone after the next list: versions go back', async () => {
    const { cache, clock, store, handlers } = await start();
    // The answer arrives; the watch ends before its event does, because the API server is stopped to be restored.
    cache.wrote(object('written', '11'));
    Object.assign(store, { items: [object('restored', '3')], resourceVersion: '4' });
    handlers.onEnd({ kind: 'expired' });
    await clock.advance(1_000);
    // A refresh by hand, as a new leader does.
    void cache.refresh();
    await clock.advance(1_000);
    expect(cache.get('default/a')?.metadata.uid).toBe('restored');
  });
});
