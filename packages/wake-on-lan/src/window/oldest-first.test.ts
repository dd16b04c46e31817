import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OldestFirst } from './oldest-first.js';

it('law: it is a Map whose first entry is removed, whatever happened before', () => {
  const step = fc.tuple(fc.constantFrom('set', 'delete', 'delete-oldest', 'look'), fc.constantFrom('a', 'b', 'c', 'd'), fc.nat());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const map = new OldestFirst<number>();
      const model = new Map<string, number>();
      for (const [kind, key, value] of steps) {
        const [first] = model.keys();
        if (kind === 'set' || kind === 'delete') model.delete(key);
        if (kind === 'set') {
          model.set(key, value);
          map.set(key, value);
        } else if (kind === 'delete') map.delete(key);
        else if (kind === 'delete-oldest') {
          map.deleteOldest();
          if (first !== undefined) model.delete(first);
        } else expect(map.oldest()).toBe([...model.values()][0]);
        expect(map.size).toBe(model.size);
        expect(map.get(key)).toBe(model.get(key));
      }
    }),
    { numRuns: 1_000 },
  );
});
