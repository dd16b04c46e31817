import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { PageEvent, Section } from '../model/page-data.js';
import { ipPool, mac } from '../pool/pool-object-fixtures.js';
import { VersionedPools } from '../pool/versioned-pools.js';
import { POOLS_ALONE, type SourceChange } from '../source/page-source.js';
import { ChangeFeed, GATHER_MS, type Viewer } from './change-feed.js';

function setUp() {
  const clock = new FakeClock();
  const objects = new Map<string, KubernetesObject>();
  const listeners = new Set<(change: SourceChange) => void>();
  const followed = new VersionedPools({ get: (key) => objects.get(key), values: () => objects.values() }, 'one');
  const reads = { count: 0 };
  const feed = new ChangeFeed(
    {
      ...POOLS_ALONE,
      kind: 'cluster',
      unready: () => [],
      machineOf: () => 'default/web',
      pools: () => followed.all(),
      pool: (key) => {
        reads.count++;
        return followed.get(key);
      },
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    clock,
  );
  const put = (object: KubernetesObject | undefined, key = 'default/net') => {
    if (object === undefined) objects.delete(key);
    else objects.set(key, object);
    for (const listener of listeners) listener({ section: 'pools', pool: key });
  };
  const note = (section: Section) => {
    for (const listener of listeners) listener({ section });
  };
  const view = (pool?: string, sections: readonly Section[] = ['pools', 'machines']) => {
    const events: PageEvent[] = [];
    const send = (text: string) => {
      const [, kind, data = ''] = /^event: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
      events.push({ kind, data: JSON.parse(data) } as PageEvent);
    };
    const version = pool === undefined ? undefined : feed.pool(pool)?.version;
    const viewer: Viewer = { pool, version, sections: new Set(sections), send };
    feed.add(viewer);
    return { viewer, events };
  };
  return { clock, feed, put, note, view, listeners, reads };
}

const withClients = (...clients: readonly number[]) =>
  ipPool({ allocated: Object.fromEntries(clients.map((index) => [`10.0.0.${index}`, mac(index)])) });

describe('changes for viewers', () => {
  it('a change of a pool is sent to its viewers as a difference, and to all as a row', async () => {
    const { clock, put, view } = setUp();
    put(withClients(4));
    const [one, other] = [view('default/net'), view()];
    put(withClients(4, 5));
    put(withClients(4, 5, 6));
    expect(one.events).toEqual([]);
    await clock.advance(GATHER_MS);
    expect(one.events.map(({ kind }) => kind)).toEqual(['pools', 'pool']);
    expect(one.events[1]?.data).toMatchObject({ kind: 'changes', map: [5, 1, 2], leases: [{ machine: 'default/web' }, {}] });
    expect(other.events).toMatchObject([
      { kind: 'pools', data: { changed: [{ counts: { used: 3 } }], removed: [], totals: { used: 3 } } },
      { kind: 'changed', data: { sections: ['pools'] } },
    ]);
  });

  it('an address that has another client while the numbers stay the same is told to those who see all leases', async () => {
    const { clock, put, view } = setUp();
    const withClient = (index: number) => ipPool({ allocated: { '10.0.0.4': mac(index) } });
    put(withClient(1));
    const [all, one, another, without] = [view(), view('default/net'), view('default/other'), view(undefined, ['machines'])];
    put(ipPool({ allocated: {} }));
    put(withClient(2));
    await clock.advance(GATHER_MS);
    expect(all.events).toEqual([{ kind: 'changed', data: { sections: ['pools'] } }]);
    expect(one.events.map(({ kind }) => kind)).toEqual(['pool']);
    expect([another.events.filter(({ kind }) => kind !== 'pool'), without.events]).toEqual([[], []]);
  });

  it('a viewer who may not list VirtualMachineNetworkConfigs gets no names, and nothing of other sections', async () => {
    const { clock, put, note, view } = setUp();
    put(withClients(4));
    const { events } = view('default/net', ['pools']);
    put(withClients(4, 5));
    note('machines');
    await clock.advance(GATHER_MS);
    expect(events.map(({ kind }) => kind)).toEqual(['pools', 'pool']);
    expect(events[1]?.data).toMatchObject({ leases: [{ machine: '' }] });
  });

  it('a viewer with another version is asked to reload the pool; changes continue from the reloaded version', async () => {
    const { clock, feed, put, view } = setUp();
    put(withClients(4));
    view('default/net');
    put(withClients(4, 5));
    const events: string[] = [];
    feed.add({
      pool: 'default/net',
      version: 'of another process',
      sections: new Set(['pools']),
      send: (text) => events.push(text),
    });
    expect(events[0]).toContain('"kind":"reset"');
    const read = feed.pool('default/net')?.version;
    await clock.advance(GATHER_MS);
    expect(events.at(-1)).toContain(`"since":"${read}"`);
  });

  it('a deleted pool is removed from the rows, and its viewers reload it', async () => {
    const { clock, put, view } = setUp();
    put(withClients(4));
    const { events } = view('default/net');
    put(undefined);
    await clock.advance(GATHER_MS);
    expect(events).toMatchObject([
      { kind: 'pools', data: { changed: [], removed: ['default/net'] } },
      { kind: 'pool', data: { kind: 'reset' } },
    ]);
    put(withClients(5));
    await clock.advance(GATHER_MS);
    expect(events.slice(2)).toMatchObject([{ kind: 'pools' }, { kind: 'pool', data: { kind: 'reset' } }]);
  });

  it('a changed list is announced once for many changes', async () => {
    const { clock, note, view } = setUp();
    const { events } = view(undefined, ['pools', 'agents']);
    for (let index = 0; index < 100; index++) note('agents');
    await clock.advance(GATHER_MS);
    expect(events).toEqual([{ kind: 'changed', data: { sections: ['agents'] } }]);
  });

  it('without a viewer nothing is read, and no timer runs', async () => {
    const { clock, feed, put, view, listeners, reads } = setUp();
    put(withClients(4));
    const { viewer } = view('default/net');
    put(withClients(5));
    feed.remove(viewer);
    expect([listeners.size, clock.pending, feed.size]).toEqual([0, 0, 0]);
    const before = reads.count;
    put(withClients(6));
    await clock.advance(10 * GATHER_MS);
    expect(reads.count).toBe(before);
  });
});
