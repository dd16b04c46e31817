import { expect, it } from 'vitest';
import type { ResourcePort } from '../api/resource-port.js';
import { type EventObject, EventRecorder } from '../events/event-recorder.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { ObjectCache } from './object-cache.js';
import { Reflector } from './reflector.js';

const backOff = { firstMs: 100, mostMs: 30_000, random: () => 0.5 };

it('an object that was deleted before any list or watch showed it is gone', async () => {
  const clock = new FakeClock();
  const resource = new MemoryResource<KubernetesObject>(clock);
  const changes: string[] = [];
  const cache = new ObjectCache<KubernetesObject>({
    port: resource,
    clock,
    backOff,
    onChange: (key, isOwn) => changes.push(`${key} ${isOwn}`),
  });
  cache.start();
  await clock.advance(100);
  // The watch breaks; meanwhile the object is created, and deleted by another client.
  resource.failNext = 3;
  resource.closeWatches('failed');
  const created = resource.create({ metadata: { namespace: 'default', name: 'a' } });
  await clock.advance(2);
  const result = await created;
  if (result.ok) cache.wrote(result.object);
  resource.remove('default/a');
  resource.compact();
  await clock.advance(600_000);
  expect(resource.objects.size).toBe(0);
  expect({ get: cache.get('default/a')?.metadata.name, changes }).toEqual({
    get: undefined,
    changes: ['default/a true', 'default/a false'],
  });
});

it('the same if the server restarts and the watch continues (no history lost)', async () => {
  const clock = new FakeClock();
  const resource = new MemoryResource<KubernetesObject>(clock);
  const cache = new ObjectCache<KubernetesObject>({ port: resource, clock, backOff, onChange: () => undefined });
  cache.start();
  await clock.advance(100);
  resource.closeWatches('expired');
  const created = resource.create({ metadata: { namespace: 'default', name: 'a' } });
  await clock.advance(0.5);
  await clock.advance(2);
  const result = await created;
  if (result.ok) cache.wrote(result.object);
  await clock.advance(10_000);
  expect(cache.get('default/a')).toBeDefined();
});

it('a server that answers every watch with 410 is not listed all the time', async () => {
  const clock = new FakeClock();
  let lists = 0;
  const port: ResourcePort<KubernetesObject> = {
    list: async () => {
      lists++;
      await new Promise<void>((resolve) => clock.after(5, resolve));
      return { items: [], resourceVersion: '5' };
    },
    watch: (_, { onEnd }) => clock.after(5, () => onEnd({ kind: 'expired' })),
  };
  const reflector = new Reflector<KubernetesObject>({ port, clock, backOff, onChange: () => undefined });
  reflector.start();
  await clock.advance(10_000);
  reflector.stop();
  expect(lists, 'whole lists in ten seconds').toBeLessThan(30);
});

it('an event without metadata does not end the process', async () => {
  const clock = new FakeClock();
  let send: (line: unknown) => void = () => undefined;
  const port: ResourcePort<KubernetesObject> = {
    list: async () => ({ items: [], resourceVersion: '5' }),
    watch: (_, { onEvent }) => {
      send = (object) => onEvent({ type: 'added', object: object as KubernetesObject });
      return () => undefined;
    },
  };
  const reflector = new Reflector<KubernetesObject>({
    port,
    clock,
    backOff,
    onChange: () => undefined,
    onError: () => undefined,
  });
  reflector.start();
  await clock.advance(10);
  expect(() => send({})).not.toThrow();
});

it('the number of waiting Events is bounded while the server is slow', async () => {
  const clock = new FakeClock();
  let begun = 0;
  const recorder = new EventRecorder({
    client: {
      create: () => {
        begun++;
        return new Promise((_, reject) => clock.after(30_000, () => reject(new Error('time-out'))));
      },
      patch: () => new Promise((_, reject) => clock.after(30_000, () => reject(new Error('time-out')))),
    } as unknown as Pick<MemoryResource<EventObject>, 'create' | 'patch'>,
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    component: 'c',
    instance: 'i',
  });
  let changes = 0;
  for (let second = 0; second < 600; second++) {
    for (let i = 0; i < 10; i++)
      recorder.record(
        { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: `a${changes++}` },
        { type: 'Warning', reason: 'R', message: 'm' },
      );
    await clock.advance(1_000);
  }
  const waiting = changes - recorder.dropped - begun;
  expect(waiting, 'events that wait after ten minutes').toBeLessThan(200);
});
