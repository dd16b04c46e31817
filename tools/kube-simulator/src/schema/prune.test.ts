import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { pruneObject } from './prune.js';

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        list: { type: 'array', items: { type: 'object', properties: { k: { type: 'string' } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { v: { type: 'integer' } } } },
        any: { type: 'object', additionalProperties: true },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { strict: { type: 'object' } } },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

function prune(spec: JsonObject, more: JsonObject = {}): { spec: unknown; unknownFields: string[] } {
  const { object, unknownFields } = pruneObject<JsonObject>(schema, {
    apiVersion: 'a/v1',
    kind: 'K',
    metadata: { name: 'x' },
    spec,
    ...more,
  });
  return { spec: object['spec'], unknownFields };
}

describe('pruning', () => {
  it.each<readonly [string, JsonObject, JsonObject, string[]]>([
    ['unknown fields', { name: 'n', nope: 1, also: {} }, { name: 'n' }, ['spec.also', 'spec.nope']],
    ['fields of list items', { list: [{ k: 'a', x: 1 }, { k: 'b' }] }, { list: [{ k: 'a' }, { k: 'b' }] }, ['spec.list[0].x']],
    ['fields of map entries', { map: { e: { v: 1, w: 2 } } }, { map: { e: { v: 1 } } }, ['spec.map.e.w']],
    [
      'what is in the objects of additionalProperties: true',
      { any: { a: 1, b: { c: 2 } } },
      { any: { a: 1, b: {} } },
      ['spec.any.b.c'],
    ],
    ['what every object has', { constructor: 1 } as unknown as JsonObject, {}, ['spec.constructor']],
    [
      'declared fields below preserve-unknown-fields',
      { free: { strict: { x: 1 } } },
      { free: { strict: {} } },
      ['spec.free.strict.x'],
    ],
    [
      'metadata of embedded resources',
      { embedded: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', bogus: 1 }, data: { a: 'b' } } },
      { embedded: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } } },
      ['spec.embedded.metadata.bogus'],
    ],
    ['nothing of what has the wrong type', { name: { a: 1 }, list: 'x' }, { name: {}, list: 'x' }, ['spec.name.a']],
  ])('drops %s', (_, spec, pruned, unknownFields) => {
    expect(prune(spec)).toEqual({ spec: pruned, unknownFields });
  });

  it('names unknown fields in the order of their paths, those of metadata and the top level too', () => {
    const { unknownFields } = prune({ colour: 'blue' }, { topLevel: 1, metadata: { name: 'x', nope: 1 } });
    expect(unknownFields).toEqual(['metadata.nope', 'spec.colour', 'topLevel']);
  });

  it('keeps everything, nulls too, where unknown fields are preserved', () => {
    const spec = { free: { a: [{ b: null, c: {} }] } };
    expect(prune(spec)).toEqual({ spec, unknownFields: [] });
  });

  it('returns the object itself when there is nothing to drop', () => {
    const object = { metadata: { name: 'x' }, spec: { map: { a: { v: 1 } }, list: [{ k: 'a' }] } };
    expect(pruneObject(schema, object).object).toBe(object);
  });
});
