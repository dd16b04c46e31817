import { describe, expect, it } from 'vitest';
import { projectedPort } from '../api/projected-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { ObjectCache } from './object-cache.js';

const object = (name: string, text: string): KubernetesObject => ({ metadata: { namespace: 'default', name }, spec: { text } });

async function start(copied = (object: KubernetesObject) => object) {
  const clock = new FakeClock();
  const server = new MemoryResource<KubernetesObject>(clock);
  const changes: string[] = [];
  const cache: ObjectCache<KubernetesObject> = new ObjectCache({
    port: projectedPort(server, copied),
    clock,
    backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 },
    onChange: (key, isOwn) => changes.push(`${key} ${JSON.stringify(cache.get(key)?.spec ?? 'gone')}${isOwn ? ' own' : ''}`),
  });
  cache.start();
  await clock.advance(10);
  return { clock, server, cache, changes };
}

async function written(clock: FakeClock, write: Promise<{ ok: boolean; object?: KubernetesObject }>): Promise<KubernetesObject> {
  await clock.advance(1);
  for (;;) {
    const result = await Promise.race([write, Promise.resolve(undefined)]);
    if (result !== undefined) return result.object as KubernetesObject;
    await clock.advance(1);
  }
}

describe('ObjectCache', () => {
  it('an own write is visible at once, and is not reported again by the watch', async () => {
    const { clock, server, cache, changes } = await start();
    // The watch is slow: it is cut off while the write is made.
    server.closeWatches('failed');
    const created = await written(clock, server.create(object('a', '1')));
    cache.wrote(created);
    expect(cache.get('default/a')?.spec).toEqual({ text: '1' });
    await clock.advance(1_000);
    expect(changes).toEqual(['default/a {"text":"1"} own']);
  });

  it('a known version stays the same object, so that derived data stay valid: after the echo of a write, and after a new list', async () => {
    const { clock, server, cache } = await start((object) => structuredClone(object));
    server.closeWatches('failed');
    server.put(object('b', '1'));
    const created = await written(clock, server.create(object('a', '1')));
    cache.wrote(created);
    await clock.advance(1_000);
    expect(cache.get('default/a')).toBe(created);
    const before = [cache.get('default/a'), cache.get('default/b')];
    server.compact();
    server.closeWatches('expired');
    await clock.advance(1_000);
    expect(server.requests.lists).toBe(2);
    expect([cache.get('default/a'), cache.get('default/b')].map((one, index) => one === before[index])).toEqual([true, true]);
    server.put({ ...created, spec: { text: '2' } });
    await clock.advance(10);
    expect(cache.get('default/a')?.spec).toEqual({ text: '2' });
  });

  it('each object is read once, however long it takes to read all, even if it is deleted and created again meanwhile', async () => {
    const { clock, server, cache } = await start();
    for (const name of ['a', 'b', 'c']) server.put(object(name, '1'));
    await clock.advance(10);
    const all = cache.values();
    const names = [all.next().value?.metadata.name];
    server.remove('default/a');
    await clock.advance(10);
    server.put(object('a', '2'));
    await clock.advance(10);
    names.push(...[...all].map(({ metadata }) => metadata.name));
    expect(names).toEqual(['a', 'b', 'c']);
  });

  it('a write that the watch has already passed is ignored', async () => {
    const { clock, server, cache } = await start();
    const created = await written(clock, server.create(object('a', '1')));
    server.remove('default/a');
    await clock.advance(10);
    cache.wrote(created);
    expect(cache.get('default/a')).toBeUndefined();
  });

  it('a later change of another client is reported', async () => {
    const { clock, server, cache, changes } = await start();
    server.closeWatches('failed');
    const created = await written(clock, server.create(object('a', '1')));
    cache.wrote(created);
    server.put({ ...created, spec: { text: '2' } });
    await clock.advance(1_000);
    expect(cache.get('default/a')?.spec).toEqual({ text: '2' });
    expect(changes).toEqual(['default/a {"text":"1"} own', 'default/a {"text":"2"}']);
  });
});
