import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { applyMergePatch } from './merge-patch.js';

describe('a JSON merge patch (RFC 7396)', () => {
  it.each<readonly [string, JsonObject, JsonObject, JsonObject]>([
    ['replaces a value', { a: 'b' }, { a: 'c' }, { a: 'c' }],
    ['adds a key', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    ['deletes by null', { a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    ['replaces lists whole', { a: ['b'] }, { a: ['c', 'd'] }, { a: ['c', 'd'] }],
    ['merges objects', { a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    ['makes an object of a list', { a: [{ b: 'c' }] }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['adds no nulls', {}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ['does not mistake what every object has for a key', { a: 1 }, { constructor: null, toString: 2 }, { a: 1, toString: 2 }],
  ])('%s', (_, object, patch, after) => {
    expect(applyMergePatch(object, patch)).toEqual(after);
  });

  it('returns the object itself when nothing changes, and shares what it does not touch', () => {
    const object = { spec: { dns: ['1.1.1.1'], deep: { a: 1 } }, status: { large: {} } };
    expect(applyMergePatch(object, { spec: { dns: ['1.1.1.1'], none: null, deep: {} } })).toBe(object);
    const after = applyMergePatch(object, { spec: { deep: { a: 2 } } });
    expect(after['status']).toBe(object.status);
    expect(object.spec.deep.a).toBe(1);
  });

  it('takes a key called __proto__ as a key', () => {
    const after = applyMergePatch({ labels: {} }, JSON.parse('{"labels": {"__proto__": {"polluted": true}}}') as Json);
    expect(JSON.stringify(after)).toBe('{"labels":{"__proto__":{"polluted":true}}}');
    expect(Object.getPrototypeOf(after['labels'])).toBe(Object.prototype);
  });

  it('has to be an object', () => {
    expect(() => applyMergePatch({}, [])).toThrow(
      new ApiError({
        code: 400,
        reason: 'BadRequest',
        message: 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
      }),
    );
  });
});
