import { describe, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { KeyedQueue } from '../queue/keyed-queue.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { type CacheSubscription, SharedCaches } from './shared-caches.js';

const PODS: ApiResource = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const NODES: ApiResource = { group: '', version: 'v1', plural: 'nodes', namespaced: false };

const object = (name: string, text = ''): KubernetesObject => ({ metadata: { namespace: 'default', name }, spec: { text } });

function setUp() {
  const clock = new FakeClock();
  const servers = new Map<string, MemoryResource<KubernetesObject>>();
  const opened: string[] = [];
  const caches = new SharedCaches({
    clock,
    backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 },
    open: ({ plural, namespace = '', labelSelector = '', fieldSelector = '' }) => {
      opened.push([plural, namespace, labelSelector, fieldSelector].join(' ').trim());
      const server = servers.get(plural) ?? new MemoryResource<KubernetesObject>(clock);
      servers.set(plural, server);
      return server;
    },
  });
  /** A subscriber, and its notifications. */
  const part = (resource: ApiResource = PODS) => {
    const log: string[] = [];
    const cache: CacheSubscription = caches.subscribe(resource, {
      onChange: (key, isOwn) =>
        log.push(`${key.slice('default/'.length)} ${cache.get(key) === undefined ? 'gone' : 'here'}${isOwn ? ' own' : ''}`),
      onListed: () => log.push('listed'),
      onSynced: () => log.push('synced'),
      onError: (error) => log.push(`error ${(error as Error).message}`),
    });
    return { cache, log };
  };
  const pods = () => servers.get('pods') as MemoryResource<KubernetesObject>;
  return { clock, caches, opened, part, pods };
}

async function created(clock: FakeClock, server: MemoryResource<KubernetesObject>, name: string): Promise<KubernetesObject> {
  const creation = server.create(object(name));
  await clock.advance(2);
  const result = await creation;
  if (!result.ok) throw new Error(result.message);
  return result.object;
}

describe('shared caches', () => {
  it('a kind is watched once for all listeners, and every listener learns everything', async () => {
    const { clock, part, pods, opened } = setUp();
    const [one, other] = [part(), part()];
    pods().put(object('a'));
    one.cache.start();
    other.cache.start();
    await clock.advance(10);
    pods().put(object('b'));
    pods().remove('default/a');
    expect(one.log).toEqual(['a here', 'listed', 'synced', 'b here', 'a gone']);
    expect(other.log).toEqual(one.log);
    expect(opened).toEqual(['pods']);
    expect(pods().requests).toEqual({ lists: 1, watches: 1 });
    expect([one.cache.size, [...other.cache.values()].map(({ metadata }) => metadata.name)]).toEqual([1, ['b']]);
  });

  it('a bookmark is an event of the watch, not a change', async () => {
    const { clock, caches, pods } = setUp();
    const log: string[] = [];
    const cache = caches.subscribe(PODS, {
      onChange: (key) => log.push(key),
      onWatchEvent: () => log.push('watch event'),
    });
    cache.start();
    await clock.advance(10);
    expect(log).toEqual([]);
    pods().bookmark();
    expect(log).toEqual(['watch event']);
    pods().put(object('a'));
    expect(log).toEqual(['watch event', 'default/a', 'watch event']);
  });

  it('metadata and whole objects have separate caches, and whole objects are the default', () => {
    const { part, opened } = setUp();
    part();
    part({ ...PODS, metadataOnly: false });
    expect(opened).toHaveLength(1);
    part({ ...PODS, metadataOnly: true });
    expect(opened).toHaveLength(2);
  });

  it('objects cannot be changed, at any depth', async () => {
    const { clock, part, pods } = setUp();
    const { cache } = part();
    pods().put({ ...object('a'), spec: { list: [{ text: 'x' }], nothing: null } });
    cache.start();
    await clock.advance(10);
    const cached = cache.get('default/a') as unknown as { spec: { list: { text: string }[]; nothing: unknown } };
    expect(() => cached.spec.list.push({ text: 'y' })).toThrow(TypeError);
    expect(() => Object.assign(cached.spec.list[0] ?? {}, { text: 'y' })).toThrow(TypeError);
    expect(cached.spec).toEqual({ list: [{ text: 'x' }], nothing: null });
  });

  it('nothing is requested before a subscription starts', async () => {
    const { clock, part, pods, caches } = setUp();
    const { cache } = part();
    await clock.advance(1_000);
    expect([pods().requests, cache.synced, caches.missing()]).toEqual([{ lists: 0, watches: 0 }, false, []]);
  });

  it.each<[string, Partial<ApiResource>]>([
    ['namespace', { namespace: 'default' }],
    ['labels', { labelSelector: 'a=b' }],
    ['fields', { fieldSelector: 'a=b' }],
    ['version', { version: 'v2' }],
    ['group', { group: 'apps' }],
    ['kind', { plural: 'services' }],
  ])('another %s is another selection; the same one described by another object is not', (_, difference) => {
    const { part, opened } = setUp();
    part();
    part({ ...PODS, ...difference });
    part({ ...difference, ...PODS, ...difference });
    expect(opened).toHaveLength(2);
  });

  it('a late listener learns everything that is cached, including own writes of others, and then follows', async () => {
    const { clock, part, pods } = setUp();
    const first = part();
    pods().put(object('a'));
    first.cache.start();
    await clock.advance(10);
    pods().closeWatches('failed');
    first.cache.wrote(await created(clock, pods(), 'written'));
    const late = part();
    late.cache.start();
    expect(late.log).toEqual(['a here', 'written here', 'listed', 'synced']);
    late.cache.start();
    await clock.advance(1_000);
    pods().put(object('b'));
    expect(late.log.slice(4)).toEqual(['b here']);
  });

  it('a listener that joins during the first list is not told of a sync before it happens', async () => {
    const { clock, part } = setUp();
    const [first, second] = [part(), part()];
    first.cache.start();
    second.cache.start();
    expect([second.log, second.cache.synced]).toEqual([[], false]);
    await clock.advance(10);
    expect([second.log, second.cache.synced]).toEqual([['listed', 'synced'], true]);
  });

  it('a write is `isOwn` for its writer, and a change for every other listener; its echo is not reported', async () => {
    const { clock, part, pods } = setUp();
    const [writer, reader] = [part(), part()];
    writer.cache.start();
    reader.cache.start();
    await clock.advance(10);
    pods().closeWatches('failed');
    writer.cache.wrote(await created(clock, pods(), 'a'));
    await clock.advance(1_000);
    expect(writer.log.filter((line) => line.startsWith('a'))).toEqual(['a here own']);
    expect(reader.log.filter((line) => line.startsWith('a'))).toEqual(['a here']);
    pods().put(object('a', 'changed'));
    expect(writer.log.at(-1)).toBe('a here');
  });

  it('a listener that throws gets its error; the others learn everything', async () => {
    const { clock, caches, part, pods } = setUp();
    const errors: unknown[] = [];
    const fail = () => {
      throw new Error('bug');
    };
    const bad = caches.subscribe(PODS, {
      onChange: fail,
      onSynced: fail,
      onListed: fail,
      onError: (error) => errors.push((error as Error).message),
    });
    const good = part();
    pods().put(object('a'));
    bad.start();
    good.cache.start();
    await clock.advance(10);
    expect([errors, good.log]).toEqual([
      ['bug', 'bug', 'bug'],
      ['a here', 'listed', 'synced'],
    ]);
  });

  it('failures of lists reach every listener, and the kind is missing, with the cause, until it is listed', async () => {
    const { clock, part, pods, caches } = setUp();
    const [one, other] = [part(), part()];
    pods().failNext = 1;
    one.cache.start();
    other.cache.start();
    await clock.advance(1);
    expect([one.log, other.log]).toEqual([['error HTTP 500'], ['error HTTP 500']]);
    expect(caches.missing()).toEqual([{ resource: PODS, error: new Error('HTTP 500') }]);
    await clock.advance(1_000);
    expect(caches.missing()).toEqual([]);
  });

  it('the watch ends when every subscription has stopped; a stopped listener learns nothing more', async () => {
    const { clock, part, pods, opened } = setUp();
    const [one, other, waiting] = [part(), part(), part()];
    one.cache.start();
    other.cache.start();
    await clock.advance(10);
    one.cache.stop();
    one.cache.stop();
    pods().put(object('a'));
    expect([one.log.length, other.log.at(-1)]).toEqual([2, 'a here']);
    other.cache.stop();
    waiting.cache.start();
    pods().put(object('b'));
    expect(waiting.log).toEqual(['a here', 'listed', 'synced', 'b here']);
    waiting.cache.stop();
    pods().put(object('c'));
    await clock.advance(600_000);
    expect([waiting.log.length, clock.pending, pods().requests.watches]).toEqual([4, 0, 1]);
    one.cache.start();
    await one.cache.refresh();
    expect(one.log.length).toBe(2);
    part().cache.start();
    await clock.advance(10);
    expect([opened.length, pods().requests.lists]).toEqual([2, 2]);
  });

  it('refreshes of several parts at one moment share a list that begins after them', async () => {
    const { clock, part, pods } = setUp();
    const [one, other] = [part(), part()];
    one.cache.start();
    other.cache.start();
    await clock.advance(10);
    let refreshed = 0;
    for (const { cache } of [one, other]) void cache.refresh().then(() => refreshed++);
    await clock.advance(0);
    expect([refreshed, pods().requests.lists]).toEqual([0, 2]);
    await clock.advance(1);
    expect([refreshed, pods().requests.lists]).toEqual([2, 2]);
    void one.cache.refresh().then(() => refreshed++);
    await clock.advance(10);
    expect([refreshed, pods().requests.lists]).toEqual([3, 3]);
  });

  it('a refresh starts what has not started', async () => {
    const { clock, part } = setUp();
    const { cache, log } = part();
    void cache.refresh();
    await clock.advance(10);
    expect([cache.synced, log]).toEqual([true, ['listed', 'synced']]);
  });

  it('managed fields are not cached; the process decides what else to leave out', async () => {
    const { clock, part, pods } = setUp();
    const { cache } = part();
    pods().put({ metadata: { namespace: 'default', name: 'a', managedFields: [{}] } as KubernetesObject['metadata'] });
    cache.start();
    await clock.advance(10);
    expect(cache.get('default/a')).toEqual({ metadata: { namespace: 'default', name: 'a', resourceVersion: '1' } });
    const own = new SharedCaches({
      clock,
      backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 },
      open: () => pods(),
      trim: ({ plural }, { metadata }) => ({ kind: plural, metadata: { name: metadata.name } }),
    }).subscribe(NODES, { onChange: () => undefined });
    own.start();
    await clock.advance(10);
    expect([...own.values()]).toEqual([{ kind: 'nodes', metadata: { name: 'a' } }]);
  });

  it('fact 7: a kind that cannot be listed is named, with its cause, until it is listed; readiness asks for it', async () => {
    const { clock, caches, part, pods } = setUp();
    part().cache.start();
    const ours = caches.subscribe({ ...NODES, group: 'example.com' }, { onChange: () => undefined });
    ours.start();
    expect(caches.unready()).toEqual(['pods: not listed yet', 'nodes.example.com: not listed yet']);
    pods().failNext = 2;
    await clock.advance(10);
    expect(caches.unready()).toEqual(['pods: cannot be listed: HTTP 500']);
    expect([part().cache.problem(), ours.problem()]).toEqual(['cannot be listed: HTTP 500', undefined]);
    await clock.advance(1_000);
    expect(caches.unready()).toEqual([]);
    // Objects that are not watched any more are getting old.
    pods().failNext = Number.POSITIVE_INFINITY;
    pods().closeWatches('failed');
    await clock.advance(310_000);
    expect(part().cache.problem()).toMatch(/^cannot be watched: /);
    expect(caches.unready()).toEqual([expect.stringMatching(/^pods: cannot be watched: /)]);
  });

  it('fact 13: after an own write the next read gives that version or a later one, and no change of others is lost', async () => {
    const { clock, part, pods } = setUp();
    const { cache, log } = part();
    cache.start();
    await clock.advance(10);
    pods().closeWatches('failed');
    const written = await created(clock, pods(), 'a');
    pods().put({ ...written, spec: { text: 'of another client' } });
    cache.wrote(written);
    expect(cache.get('default/a')).toMatchObject({ metadata: { resourceVersion: written.metadata.resourceVersion } });
    await clock.advance(1_000);
    expect([cache.get('default/a')?.spec, log.slice(-2)]).toEqual([{ text: 'of another client' }, ['a here own', 'a here']]);
  });

  it('fact 14: a list during a queued key of an object that has vanished: the reconciler finds it gone', async () => {
    const { clock, caches, pods } = setUp();
    const seen: string[] = [];
    const queue = new KeyedQueue({
      clock,
      backOff: { firstMs: 50, mostMs: 400, random: () => 0.5 },
      reconcile: async (key) => {
        seen.push(`${key} ${cache.get(key) === undefined ? 'gone' : 'here'}`);
        await new Promise<void>((resolve) => clock.after(100, resolve));
        return { kind: 'settled' };
      },
    });
    const cache: CacheSubscription = caches.subscribe(PODS, { onChange: (key) => queue.add(key) });
    cache.start();
    await clock.advance(10);
    pods().put(object('slow'));
    pods().put(object('a'));
    pods().closeWatches('expired');
    pods().remove('default/a');
    pods().compact();
    await clock.advance(1_000);
    expect(seen).toEqual(['default/slow here', 'default/a gone']);
  });

  it('fact 23: a cached object is frozen in all its parts, even if it was frozen before', async () => {
    const { clock, part, pods } = setUp();
    const { cache } = part();
    const labels = Object.freeze({ a: 'b' });
    pods().put({ metadata: { namespace: 'default', name: 'a', labels }, spec: { list: [{ deep: true }] } });
    cache.start();
    await clock.advance(10);
    const cached = cache.get('default/a') as { spec: { list: { deep: boolean }[] }; metadata: { name: string } };
    expect(() => {
      (cached.spec.list[0] as { deep: boolean }).deep = false;
    }).toThrow(TypeError);
    expect(() => cached.spec.list.push({ deep: false })).toThrow(TypeError);
    expect(() => Object.assign(cached.metadata, { name: 'b' })).toThrow(TypeError);
  });

  it('fact 23: without managed fields a cached object of a usual kind is at least a fifth smaller', async () => {
    const { clock, part, pods } = setUp();
    const { cache } = part();
    const fields = { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } }, 'f:spec': { 'f:replicas': {}, 'f:selector': {} } };
    const managedFields = ['kubectl', 'kube-controller-manager'].map((manager) => ({ manager, fieldsV1: fields }));
    const whole = object('a', 'x'.repeat(300));
    pods().put({ ...whole, metadata: { ...whole.metadata, managedFields } as KubernetesObject['metadata'] });
    cache.start();
    await clock.advance(10);
    const [before] = pods().objects.values();
    expect(JSON.stringify(cache.get('default/a')).length).toBeLessThan(0.8 * JSON.stringify(before).length);
  });

  it('fact 23: a source of metadata differs from a source of whole objects', () => {
    const { part, opened } = setUp();
    part();
    part({ ...PODS, metadataOnly: true });
    part({ ...PODS, metadataOnly: false });
    expect(opened).toHaveLength(2);
  });

  it('fact 25: a cache reports its size, how often it was listed and when the server was last heard from', async () => {
    const { clock, caches, part, pods } = setUp();
    const { cache } = part();
    expect(caches.states()).toEqual([]);
    cache.start();
    expect(caches.states()).toEqual([{ resource: PODS, synced: false, size: 0, lists: 0, silentMs: undefined }]);
    pods().put(object('a'));
    await clock.advance(11);
    expect(caches.states()).toEqual([{ resource: PODS, synced: true, size: 1, lists: 1, silentMs: 10 }]);
    void cache.refresh();
    await clock.advance(1);
    expect(caches.states()).toMatchObject([{ lists: 2, silentMs: 0 }]);
  });
});
