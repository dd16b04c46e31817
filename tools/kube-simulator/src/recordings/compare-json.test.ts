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

it('times of one object that were recorded in one second may be two here, and each is sent as it is here', () => {
  const bindings = new Bindings();
  const deleted = (uid: string, created: string, atTime: string): Json => ({
    metadata: { uid, creationTimestamp: created, deletionTimestamp: atTime },
  });
  const here = deleted('0b6f1c60-7d7c-4d0c-8d3e-3f1f0e4b8a01', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z');
  const found = compareJson(deleted('<uid:1>', '<time:1>', '<time:1>'), here, {
    where: 'body',
    bindings,
    keepManagedFields: false,
  });
  expect(found).toEqual([]);
  const sent = ['creationTimestamp', 'deletionTimestamp'].map((field) =>
    bindings.fieldToSend({ uid: '<uid:1>', field }, '<time:1>'),
  );
  expect(sent).toEqual(['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z']);
  expect(bindings.fieldToSend({ uid: '<uid:2>', field: 'deletionTimestamp' }, '<time:1>')).toBe('2026-01-01T00:00:00Z');
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
