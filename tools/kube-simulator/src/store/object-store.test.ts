import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../api-object.js';
import { ObjectStore, TooLargeForStore } from './object-store.js';

const object = (name: string, value: number | string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name },
  value,
});

const operation = fc.record({
  key: fc.constantFrom('a/1', 'a/2', 'a-b/1', 'b/1', 'b/2'),
  value: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
});
type Operation = { readonly key: string; readonly value: number | undefined };

function perform(store: ObjectStore, { key, value }: Operation): void {
  const existing = store.collection('things').get(key);
  if (value !== undefined) store.put('things', key, object(key, value));
  else if (existing !== undefined) store.remove('things', key, existing.object);
}

const state = (store: ObjectStore, at: number) =>
  store
    .collection('things')
    .entriesAt(at)
    ?.map(([key, { object: one }]) => [key, one['value']]);

describe('a store', () => {
  it('shows every state that it has not forgotten', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40, size: 'max' }), (operations) => {
        const store = new ObjectStore();
        const seen = new Map<number, unknown>();
        for (const one of operations) {
          perform(store, one);
          seen.set(store.resourceVersion, state(store, store.resourceVersion));
        }
        for (const [at, expected] of seen) expect(state(store, at)).toEqual(expected);
      }),
    );
  });

  it('replays to a listener what happened since any moment', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40, size: 'max' }), fc.nat(40), (operations, start) => {
        const store = new ObjectStore();
        const live: number[] = [];
        let from = 0;
        for (const [index, one] of operations.entries()) {
          if (index === start) {
            from = store.resourceVersion;
            store.collection('things').listen((change) => live.push(change.resourceVersion));
          }
          perform(store, one);
        }
        if (start >= operations.length) return;
        const replayed = store.collection('things').changesAfter(from);
        expect(replayed?.map(({ resourceVersion }) => resourceVersion)).toEqual(live);
      }),
    );
  });

  it('keeps its keys sorted, and one namespace apart from another that begins alike', () => {
    const store = new ObjectStore();
    for (const key of ['b/1', 'a-b/1', 'a/2', 'a/1']) store.put('things', key, object(key, 1));
    const keys = (prefix: string) => [...store.collection('things').entries(prefix)].map(([key]) => key);
    expect(keys('')).toEqual(['a-b/1', 'a/1', 'a/2', 'b/1']);
    expect(keys('a/')).toEqual(['a/1', 'a/2']);
  });

  it('forgets what was before a compaction', () => {
    const store = new ObjectStore();
    const { resourceVersion } = store.put('things', 'a/1', object('1', 1));
    store.put('things', 'a/1', object('1', 2));
    store.compact();
    expect(store.collection('things').entriesAt(resourceVersion)).toBeUndefined();
    expect(store.collection('things').changesAfter(resourceVersion)).toBeUndefined();
    expect(store.collection('things').changesAfter(store.resourceVersion)).toEqual([]);
  });

  it('counts writes of all kinds together', () => {
    const store = new ObjectStore();
    const first = store.put('things', 'a', object('a', 1));
    const second = store.put('others', 'a', object('a', 1));
    expect(second.resourceVersion).toBe(first.resourceVersion + 1);
    expect(second.object.metadata.resourceVersion).toBe(String(second.resourceVersion));
  });

  it('refuses what is too large, and stays as it was', () => {
    const store = new ObjectStore();
    const before = store.resourceVersion;
    expect(() => store.put('things', 'a', object('a', 'x'.repeat(1_600_000)))).toThrow(TooLargeForStore);
    expect([store.resourceVersion, store.collection('things').size]).toEqual([before, 0]);
  });
});
