import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PersistentMap } from './persistent-map.js';

/** More than the first buckets hold. */
const key = fc.nat(400).map((number) => `key-${number}`);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(3), { nil: undefined, freq: 3 })), { maxLength: 300, size: 'max' });
const sorted = (entries: Iterable<readonly [string, number]>) =>
  [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));

const byValue = (one: number, other: number) => one - other;

it('law: each version has what its changes left, whatever versions follow it', () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 5 }), (rounds) => {
      let [map, model] = [PersistentMap.of<string, number>(), new Map<string, number>()];
      const versions = [{ map, content: sorted(model) }];
      for (const round of rounds) {
        map = map.with(round);
        model = new Map(model);
        for (const [one, value] of round) {
          if (value === undefined) model.delete(one);
          else model.set(one, value);
        }
        versions.push({ map, content: sorted(model) });
      }
      for (const { map: version, content } of versions) {
        expect(sorted(version)).toEqual(content);
        expect(version.size).toBe(content.length);
        expect([...version.keys()].toSorted()).toEqual(content.map(([one]) => one));
        expect([...version.values()].toSorted(byValue)).toEqual(content.map(([, value]) => value).toSorted(byValue));
        for (const [one, value] of content) expect([version.get(one), version.has(one)]).toEqual([value, true]);
      }
    }),
  );
});

it('law: the changed keys of two versions are those whose values differ', () => {
  let found = 0;
  fc.assert(
    fc.property(changes, changes, changes, (first, second, other) => {
      const before = PersistentMap.of<string, number>().with(first);
      for (const after of [before.with(second), PersistentMap.of<string, number>().with(other)]) {
        const keys = new Set([...before.keys(), ...after.keys()]);
        const differing = [...keys].filter((one) => before.get(one) !== after.get(one));
        expect([...before.changedKeys(after)].toSorted()).toEqual(differing.toSorted());
        found += differing.length;
      }
    }),
  );
  expect(found).toBeGreaterThan(10_000);
});

it('a version without changes is the same version', () => {
  const map = PersistentMap.of<string, number>([['a', 1]]);
  const same = [
    ['a', 1],
    ['b', undefined],
  ] as const;
  expect(map.with(same)).toBe(map);
});
