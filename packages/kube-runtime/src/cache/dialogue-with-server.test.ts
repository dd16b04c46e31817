import { describe, expect, it } from 'vitest';
import type { ListPage, WatchEnd, WatchHandlers } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { settle } from '../testing/settle.js';
import { ObjectCache } from './object-cache.js';
import { Reflector, type ReflectorSettings } from './reflector.js';

const object = (name: string, version?: string, uid = name): KubernetesObject => ({
  metadata: { name, uid, ...(version !== undefined && { resourceVersion: version }) },
});
const page = (resourceVersion: string, ...items: KubernetesObject[]): ListPage<KubernetesObject> => ({ items, resourceVersion });

interface Watch extends WatchHandlers<KubernetesObject> {
  readonly from: string;
  isStopped: boolean;
}

/** A server whose answers a test gives one by one. */
class Server {
  readonly lists: {
    readonly request: unknown;
    readonly resolve: (page: ListPage<KubernetesObject>) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  readonly watches: Watch[] = [];

  readonly list = (request: unknown): Promise<ListPage<KubernetesObject>> => {
    const { promise, resolve, reject } = Promise.withResolvers<ListPage<KubernetesObject>>();
    this.lists.push({ request, resolve, reject });
    return promise;
  };

  readonly watch = (from: string, { onEvent, onEnd }: WatchHandlers<KubernetesObject>): (() => void) => {
    const watch: Watch = { from, onEvent, onEnd, isStopped: false };
    this.watches.push(watch);
    return () => {
      watch.isStopped = true;
    };
  };

  async answer(...pages: ListPage<KubernetesObject>[]): Promise<void> {
    for (const one of pages) {
      this.lists.at(-1)?.resolve(one);
      await settle();
    }
  }

  get last(): Watch {
    return this.watches.at(-1) as Watch;
  }
}

function setUp(more: Partial<ReflectorSettings<KubernetesObject>> = {}) {
  const [clock, server] = [new FakeClock(), new Server()];
  const log: string[] = [];
  const settings = {
    port: server,
    clock,
    backOff: { firstMs: 50, mostMs: 400, random: () => 1 },
    onChange: (key: string) => log.push(key),
    onError: (error: unknown) => log.push(`error ${(error as Error).message}`),
    ...more,
  };
  const reflector = new Reflector<KubernetesObject>(settings);
  return { clock, server, log, reflector, settings };
}

/** With a first list of `a` at version 5, and a watch. */
async function started(more?: Partial<ReflectorSettings<KubernetesObject>>) {
  const story = setUp(more);
  story.reflector.start();
  await story.server.answer(page('5', object('a', '5')));
  story.log.length = 0;
  return story;
}

describe('lists', () => {
  it('a page after the first one is asked for by its token', async () => {
    const { server, reflector } = setUp({ pageSize: 1 });
    reflector.start();
    await server.answer({ ...page('5', object('a', '1')), continueToken: 'next' }, page('5', object('b', '2')));
    expect(server.lists.map(({ request }) => request)).toStrictEqual([{ limit: 1 }, { limit: 1, continueToken: 'next' }]);
    expect([[...reflector.keys()], reflector.size, server.last.from]).toEqual([['a', 'b'], 2, '5']);
  });

  it.each(['answered', 'refused'])('a page that is %s after another list has begun is ignored', async (how) => {
    const { clock, server, log, reflector } = setUp();
    reflector.start();
    reflector.relist();
    const [first] = server.lists;
    if (how === 'answered') first?.resolve(page('4', object('old', '4')));
    else first?.reject(new Error('too late'));
    await clock.advance(10_000);
    expect([log, server.lists.length, server.watches.length]).toEqual([[], 2, 0]);
    await server.answer(page('5', object('a', '5')));
    expect([log, server.watches.length]).toEqual([['a'], 1]);
  });

  it('a different object, or one without a version, is reported again; the same version is not', async () => {
    const { server, log, reflector } = setUp();
    reflector.start();
    await server.answer(page('5', object('a', '1'), object('b', '2'), object('c'), object('d', '4')));
    log.length = 0;
    reflector.relist();
    await server.answer(page('9', object('a', '1'), object('b', '2', 'other'), object('c'), object('d', '7')));
    expect(log).toEqual(['b', 'c', 'd']);
  });
});

describe('watches', () => {
  it('a watch that was replaced by a list reports nothing more', async () => {
    const { clock, server, log, reflector } = await started();
    const [watch] = server.watches as [Watch];
    reflector.relist();
    expect([watch.isStopped, clock.pending]).toEqual([true, 0]);
    watch.onEvent({ type: 'added', object: object('b', '6') });
    watch.onEnd({ kind: 'failed', error: new Error('too late') });
    await server.answer(page('5', object('a', '5')));
    expect([log, server.watches.length, clock.pending]).toEqual([[], 2, 1]);
  });

  it('a silent watch is replaced, and reports nothing more', async () => {
    const { clock, server, log } = await started({ silenceMs: 1_000 });
    const [watch] = server.watches as [Watch];
    await clock.advance(900);
    watch.onEvent({ type: 'bookmark', resourceVersion: '8' });
    await clock.advance(999);
    expect(watch.isStopped).toBe(false);
    await clock.advance(1);
    expect([watch.isStopped, server.watches.map(({ from }) => from)]).toEqual([true, ['5', '8']]);
    watch.onEvent({ type: 'added', object: object('b', '9') });
    watch.onEnd({ kind: 'closed' });
    expect([log, server.watches.length]).toEqual([[], 2]);
  });

  it.each<WatchEnd>([{ kind: 'closed' }, { kind: 'expired' }, { kind: 'failed', error: new Error('broken') }])(
    'a watch that ends twice (%j) is followed once, and leaves no timer',
    async (end) => {
      const { clock, server, log } = await started();
      const { onEnd, onEvent } = server.last;
      onEnd(end);
      onEnd(end);
      onEvent({ type: 'added', object: object('b', '6') });
      expect(clock.pending).toBe(1);
      await clock.advance(100);
      expect(log.filter((line) => !line.startsWith('error'))).toEqual([]);
      expect(server.lists.length + server.watches.length).toBe(3);
    },
  );

  it.each<[string, number, number]>([
    ['nothing', 0, 50],
    ['nothing', 49, 50],
    ['an event', 0, 50],
    ['an event', 49, 50],
    ['nothing', 50, 0],
    ['nothing', 1_000, 0],
    ['an event', 50, 0],
  ])(
    'a watch that brought %s and is closed after %d ms is reopened after %d ms, where it was',
    async (brought, lastedMs, afterMs) => {
      const { clock, server } = await started();
      if (brought === 'an event') server.last.onEvent({ type: 'modified', object: object('a', '6') });
      await clock.advance(lastedMs);
      server.last.onEnd({ kind: 'closed' });
      await clock.advance(Math.max(0, afterMs - 1));
      if (afterMs > 0) expect(server.watches.length).toBe(1);
      await clock.advance(1);
      expect(server.watches.map(({ from }) => from)).toEqual(['5', brought === 'an event' ? '6' : '5']);
      expect(server.lists.length).toBe(1);
    },
  );

  it('after an expired watch the cache lists at once; if the next one brings nothing, a little later', async () => {
    const { clock, server } = await started();
    server.last.onEnd({ kind: 'expired' });
    await clock.advance(0);
    expect(server.lists.length).toBe(2);
    await server.answer(page('6'));
    server.last.onEnd({ kind: 'expired' });
    await clock.advance(49);
    expect(server.lists.length).toBe(2);
    await clock.advance(1);
    expect(server.lists.length).toBe(3);
  });

  it('an invalid event is reported, and the events after it are applied', async () => {
    for (const onError of [undefined, () => expect.fail('a log that fails')]) {
      const { server, log, settings } = setUp();
      const errors: unknown[] = [];
      const { onError: _, ...silent } = settings;
      const reflector = new Reflector({
        ...silent,
        ...(onError !== undefined && { onError: (error) => errors.push(error) && onError() }),
      });
      reflector.start();
      await server.answer(page('5'));
      server.last.onEvent({ type: 'added', object: {} as KubernetesObject });
      server.last.onEvent({ type: 'added', object: object('b', '6') });
      expect([log, errors.length]).toEqual([['b'], onError === undefined ? 0 : 1]);
    }
  });
});

describe('after the stop', () => {
  it('the watch is stopped, no timer is left, and late answers are ignored', async () => {
    const { clock, server, log, reflector } = await started();
    reflector.stop();
    expect([server.last.isStopped, clock.pending]).toEqual([true, 0]);
    server.last.onEvent({ type: 'added', object: object('b', '6') });
    server.last.onEnd({ kind: 'closed' });
    await clock.advance(1_000_000);
    expect([log, server.watches.length, server.lists.length, reflector.size]).toEqual([[], 1, 1, 1]);
  });

  it('nothing is tried again', async () => {
    const { clock, server, reflector } = await started();
    server.last.onEnd({ kind: 'failed', error: new Error('broken') });
    expect(clock.pending).toBe(1);
    reflector.stop();
    expect(clock.pending).toBe(0);
  });

  it.each(['answered', 'refused'])('a list that is %s late changes nothing', async (how) => {
    const { clock, server, log, reflector } = setUp();
    reflector.start();
    reflector.stop();
    if (how === 'answered') server.lists[0]?.resolve(page('5', object('a', '5')));
    else server.lists[0]?.reject(new Error('too late'));
    await settle();
    expect([log, clock.pending, reflector.synced, server.watches.length]).toEqual([[], 0, false, 0]);
  });

  it('in the middle of a list no watch is begun', async () => {
    const { server, reflector } = setUp({ onListed: () => reflector.stop() });
    reflector.start();
    await server.answer(page('5'));
    expect(server.watches.length).toBe(0);
  });
});

describe('a cache and its own writes', () => {
  async function cached() {
    const { server, log, settings } = setUp();
    const cache = new ObjectCache<KubernetesObject>({
      ...settings,
      onChange: (key, isWritten) => log.push(`${key}${isWritten ? ' written' : ''}`),
    });
    cache.start();
    await server.answer(page('5', object('a', '5')));
    log.length = 0;
    return { server, log, cache };
  }

  it('an answer that comes after a later one is ignored', async () => {
    const { log, cache } = await cached();
    cache.wrote(object('a', '8'));
    cache.wrote(object('a', '7'));
    cache.wrote(object('a', '8'));
    cache.wrote(object('a', '5'));
    expect([log, cache.get('a')?.metadata.resourceVersion]).toEqual([['a written'], '8']);
    expect([...cache.values()].map(({ metadata }) => metadata.resourceVersion)).toEqual(['8']);
  });

  it('the watch reports neither an earlier change nor the own one, but a later one', async () => {
    const { server, log, cache } = await cached();
    cache.wrote(object('a', '8'));
    log.length = 0;
    server.last.onEvent({ type: 'modified', object: object('a', '7') });
    expect([log, cache.get('a')?.metadata.resourceVersion]).toEqual([[], '8']);
    server.last.onEvent({ type: 'modified', object: object('a', '8') });
    expect(log).toEqual([]);
    cache.wrote(object('a', '10'));
    server.last.onEvent({ type: 'modified', object: object('a', '11') });
    expect([log, cache.get('a')?.metadata.resourceVersion]).toEqual([['a written', 'a'], '11']);
  });

  it('the deletion of a written object is reported', async () => {
    const { server, log, cache } = await cached();
    cache.wrote(object('a', '8'));
    server.last.onEvent({ type: 'deleted', object: object('a', '9') });
    expect([log, cache.get('a'), [...cache.keys()]]).toEqual([['a written', 'a'], undefined, []]);
  });

  it('an object that was written before a list and is not in it is gone; one written after it stays', async () => {
    const { server, log, cache } = await cached();
    cache.wrote(object('b', '8'));
    cache.wrote(object('a', '7'));
    void cache.refresh();
    // The list has begun.
    cache.wrote(object('c', '20'));
    log.length = 0;
    await server.answer(page('10', object('a', '7')));
    expect(log.toSorted()).toEqual(['b']);
    expect([...cache.keys()]).toEqual(['a', 'c']);
    await server.answer(page('30'));
  });
});
