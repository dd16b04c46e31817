import { expect, it } from 'vitest';
import { ExpiredError, type ResourcePort } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { SharedCaches } from './shared-caches.js';

const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };

it('fact 7: a list whose tokens are forgotten every time is reported as the reason why nothing is listed', async () => {
  const clock = new FakeClock();
  const port: ResourcePort<KubernetesObject> = {
    list: async ({ continueToken }) => {
      if (continueToken !== undefined) throw new ExpiredError('the continue token is too old');
      return { items: [{ metadata: { name: 'a' } }], resourceVersion: '1', continueToken: 'x' };
    },
    watch: () => () => undefined,
  };
  const caches = new SharedCaches({ clock, backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 }, open: () => port });
  caches.subscribe(PODS, { onChange: () => undefined }).start();
  await clock.advance(60_000);
  expect(caches.unready()).toEqual(['pods: cannot be listed: the continue token is too old']);
});
