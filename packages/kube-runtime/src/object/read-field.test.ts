import { expect, it } from 'vitest';
import { isRecord, readField, readList, readText, readTexts } from './read-field.js';

const object = { spec: { name: 'a', count: 1, list: ['x'], none: null, '': 'empty' } };

it.each<[readonly string[], unknown]>([
  [[], object],
  [['spec', 'name'], 'a'],
  [['spec', ''], 'empty'],
  [['spec', 'none'], null],
  [['spec', 'none', 'more'], undefined],
  [['spec', 'name', 'length'], undefined],
  [['spec', 'list', '0'], undefined],
  [['spec', 'missing', 'more'], undefined],
  [['spec', 'toString'], undefined],
  [['constructor'], undefined],
])('at %j is %j', (path, expected) => {
  expect(readField(object, ...path)).toEqual(expected);
});

it('a text or a list is read only if there is one', () => {
  expect([readText(object, 'spec', 'name'), readText(object, 'spec', 'count'), readText(undefined, 'spec')]).toEqual([
    'a',
    undefined,
    undefined,
  ]);
  expect([readList(object, 'spec', 'list'), readList(object, 'spec', 'name'), readList(null, 'spec')]).toEqual([['x'], [], []]);
});

it('only fields that are text are read', () => {
  expect([readTexts(object, 'spec'), readTexts(object, 'spec', 'none'), readTexts(object, 'spec', 'list')]).toEqual([
    { name: 'a', '': 'empty' },
    {},
    {},
  ]);
});

it.each<[unknown, boolean]>([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
  [undefined, false],
])('%j is a record: %j', (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});
