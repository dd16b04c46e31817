import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { Reflector } from './reflector.js';
import { SharedCaches } from './shared-caches.js';

const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const backOff = { firstMs: 50, mostMs: 400, random: () => 0.5 };
const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const object = (name: string): KubernetesObject => ({ metadata: { namespace: 'default', name } });
const boom = () => {
  throw new Error('boom');
};

describe('a reflector whose listener throws', () => {
  it.each(['onSynced', 'onListed'] as const)('%s: the error is reported, and the watch begins', async (name) => {
    const clock = new FakeClock();
    const server = new MemoryResource<KubernetesObject>(clock);
    const [changes, errors] = [[] as string[], [] as unknown[]];
    const reflector = new Reflector({
      port: server,
      clock,
      backOff,
      onChange: (key) => changes.push(key),
      onError: (error) => errors.push(error),
      [name]: boom,
    });
    reflector.start();
    await clock.advance(10);
    server.put(object('a'));
    await clock.advance(10);
    await turn();
    expect(unhandled).toEqual([]);
    expect(changes).toEqual(['default/a']);
    expect(errors.map(String)).toEqual(['Error: boom']);
  });
});

describe('shared caches', () => {
  it('a listener whose onError throws, as a log may, does not affect the others', async () => {
    const clock = new FakeClock();
    const server = new MemoryResource<KubernetesObject>(clock);
    const caches = new SharedCaches({ clock, backOff, open: () => server });
    const changes: string[] = [];
    server.put(object('a'));
    const bad = caches.subscribe(PODS, { onChange: boom, onError: boom });
    const good = caches.subscribe(PODS, { onChange: (key) => changes.push(key) });
    bad.start();
    good.start();
    await clock.advance(10);
    server.put(object('b'));
    await clock.advance(10);
    await turn();
    expect(unhandled).toEqual([]);
    expect(changes).toEqual(['default/a', 'default/b']);
  });
});
