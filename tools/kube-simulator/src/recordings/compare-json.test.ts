import { describe, expect, it } from 'vitest';
import type { Json } from '../api-object.js';
import { Bindings } from './bindings.js';
import { compareJson } from './compare-json.js';

const differences = (expected: Json, got: Json): string[] =>
  compareJson(expected, got, { where: 'body', bindings: new Bindings(), keepManagedFields: false }).map(({ where }) => where);

const status = (message: string, ...causes: readonly (readonly [string, string])[]): Json => ({
  kind: 'Status',
  message,
  details: { causes: causes.map(([field, text]) => ({ field, message: text })) },
});

describe('two answers', () => {
  it.each<[string, Json, Json, readonly string[]]>([
    ['null is not absent', { a: null }, {}, ['body.a']],
    ['a placeholder takes what has its form', 'uid <uid:1>', 'uid 0', ['body']],
    [
      'the causes of a Status may come in another order, and its message with them',
      status('[a: x, b: y]', ['a', 'x'], ['b', 'y']),
      status('[b: y, a: x]', ['b', 'y'], ['a', 'x']),
      [],
    ],
    [
      'but not other causes',
      status('[a: x, b: y]', ['a', 'x'], ['b', 'y']),
      status('[b: y, a: z]', ['b', 'y'], ['a', 'z']),
      [
        'body.message',
        'body.details.causes[0].field',
        'body.details.causes[0].message',
        'body.details.causes[1].field',
        'body.details.causes[1].message',
      ],
    ],
    ['names stand for objects', ['a'], [{ metadata: { name: 'b' } }], ['body[0]']],
    [
      'a generated name may be another one, in labels, too',
      { metadata: { name: 'a-bcdfg', generateName: 'a-', uid: '<uid:1>' }, kind: 'A', apiVersion: 'v1', message: 'made a-bcdfg' },
      {
        metadata: { name: 'a-xxxxx', generateName: 'a-', uid: '0c5e0c5e-0000-4000-8000-000000000001' },
        kind: 'A',
        apiVersion: 'v1',
        message: 'made a-xxxxx',
      },
      [],
    ],
    ['ages are those of the moment', { cells: ['6s', 'x'] }, { cells: ['2m', 'x'] }, []],
    ['managedFields do not count', { metadata: { uid: 'u' } }, { metadata: { uid: 'u', managedFields: [] } }, []],
  ])('%s', (_name, expected, got, where) => {
    expect(differences(expected, got)).toEqual(where);
  });
});
