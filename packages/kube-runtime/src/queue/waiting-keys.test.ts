import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitingKeys } from './waiting-keys.js';

describe('waiting keys', () => {
  it('are taken in the order in which they were added, even after the queue was empty', () => {
    const keys = new WaitingKeys();
    keys.add('a', 1);
    keys.add('b', 2);
    keys.add('a', 3);
    expect([keys.size, keys.take(), keys.take(), keys.take()]).toEqual([
      2,
      { key: 'a', sinceMs: 1 },
      { key: 'b', sinceMs: 2 },
      undefined,
    ]);
    keys.add('a', 4);
    expect([keys.sinceMs('a'), keys.take(), keys.size]).toEqual([4, { key: 'a', sinceMs: 4 }, 0]);
  });

  it('law: behaves like an array, whatever is added, deleted, cleared and taken', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const act = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), key }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'take' as const), key }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), key }) },
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60, size: 'max' }), (acts) => {
        const keys = new WaitingKeys();
        let model: string[] = [];
        for (const { kind, key: one } of acts) {
          if (kind === 'add') {
            keys.add(one, 0);
            if (!model.includes(one)) model.push(one);
          } else if (kind === 'delete') {
            keys.delete(one);
            model = model.filter((other) => other !== one);
          } else if (kind === 'clear') {
            keys.clear();
            model = [];
          } else expect(keys.take()?.key).toBe(model.shift());
          expect([keys.size, keys.has(one)]).toEqual([model.length, model.includes(one)]);
        }
      }),
    );
  });
});
