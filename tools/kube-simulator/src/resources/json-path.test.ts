import { expect, it } from 'vitest';
import { compileJsonPath } from './json-path.js';

const value = {
  spec: { a: 1, 'b.c': 2, list: [{ x: 1 }, { x: 2 }] },
  metadata: { annotations: { 'example.com/k': 'v' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'False' },
      { type: 'Other', status: 'True' },
    ],
  },
};

it.each([
  ['.spec.a', 1],
  ['spec.a', 1],
  [".spec['b.c']", 2],
  ['.spec.b\\.c', 2],
  ['.metadata.annotations.example\\.com/k', 'v'],
  ['.spec.list[1].x', 2],
  ['.spec.list[*].x', 1],
  ['.spec.list[*].y', undefined],
  [".status.conditions[?(@.type=='Ready')].status", 'False'],
  ['.status.conditions[?(@.type=="Other")].status', 'True'],
  [".status.conditions[?(@.type=='None')].status", undefined],
  ['.nope.nope', undefined],
])('%s finds %j', (path, expected) => {
  expect(compileJsonPath(path)(value)).toEqual(expected);
});

it('refuses what it does not know', () => {
  expect(() => compileJsonPath('.a..b')).toThrow('not a simple JSONPath at "..b"');
});
