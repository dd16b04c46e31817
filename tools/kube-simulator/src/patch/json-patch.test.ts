import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { applyJsonPatch } from './json-patch.js';

const pool: JsonObject = { metadata: { labels: { b: '2' } }, spec: { name: 'a', ntp: ['x'], paused: true } };

function failureOf(act: () => unknown): ApiError['failure'] {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error.failure;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('a JSON patch (RFC 6902)', () => {
  it.each<readonly [string, Json, JsonObject]>([
    ['add to an object', [{ op: 'add', path: '/spec/mtu', value: 9000 }], { name: 'a', ntp: ['x'], paused: true, mtu: 9000 }],
    ['add at the end of a list', [{ op: 'add', path: '/spec/ntp/-', value: 'y' }], { name: 'a', ntp: ['x', 'y'], paused: true }],
    ['add into a list', [{ op: 'add', path: '/spec/ntp/0', value: 'w' }], { name: 'a', ntp: ['w', 'x'], paused: true }],
    ['remove', [{ op: 'remove', path: '/spec/paused' }], { name: 'a', ntp: ['x'] }],
    ['remove from a list', [{ op: 'remove', path: '/spec/ntp/0' }], { name: 'a', ntp: [], paused: true }],
    ['replace', [{ op: 'replace', path: '/spec/paused', value: false }], { name: 'a', ntp: ['x'], paused: false }],
    [
      'replace of a missing key adds it',
      [{ op: 'replace', path: '/spec/new', value: 1 }],
      { name: 'a', ntp: ['x'], paused: true, new: 1 },
    ],
    ['move', [{ op: 'move', from: '/spec/name', path: '/spec/title' }], { title: 'a', ntp: ['x'], paused: true }],
    [
      'copy, and the copies change apart',
      [
        { op: 'add', path: '/spec/ntp/-', value: 'y' },
        { op: 'copy', from: '/spec/ntp', path: '/spec/dns' },
        { op: 'remove', path: '/spec/dns/0' },
      ],
      { name: 'a', ntp: ['x', 'y'], paused: true, dns: ['y'] },
    ],
    [
      'test that holds',
      [{ op: 'test', path: '/spec', value: { paused: true, ntp: ['x'], name: 'a' } }],
      pool['spec'] as JsonObject,
    ],
    ['escaped keys', [{ op: 'add', path: '/spec/a~1b~0c', value: 1 }], { name: 'a', ntp: ['x'], paused: true, 'a/b~c': 1 }],
  ])('%s', (_, operations, spec) => {
    const before = JSON.stringify(pool);
    expect(applyJsonPatch(pool, operations)['spec']).toEqual(spec);
    expect(JSON.stringify(pool)).toBe(before);
  });

  it.each<readonly [string, Json]>([
    ['a test that fails', [{ op: 'test', path: '/spec/name', value: 'other' }]],
    ['a test of a missing path', [{ op: 'test', path: '/spec/nope', value: 'x' }]],
    ['remove of a missing key', [{ op: 'remove', path: '/spec/nope' }]],
    ['remove of what every object has', [{ op: 'remove', path: '/spec/constructor' }]],
    ['an index that is out of the list', [{ op: 'add', path: '/spec/ntp/2', value: 'z' }]],
    ['a missing parent', [{ op: 'add', path: '/metadata/annotations/x', value: '1' }]],
    ['an unknown operation', [{ op: 'frob', path: '/spec' }]],
    ['no path', [{ op: 'remove' }]],
  ])('%s is answered with the one text for all of them', (_, operations) => {
    expect(failureOf(() => applyJsonPatch(pool, operations))).toEqual({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    });
  });

  it('without operations returns the object itself', () => {
    expect(applyJsonPatch(pool, [])).toBe(pool);
  });

  it('has to be a list of not too many operations', () => {
    expect(failureOf(() => applyJsonPatch(pool, {}))).toMatchObject({
      code: 400,
      message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    });
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/spec/name', value: 'a' }));
    expect(failureOf(() => applyJsonPatch(pool, operations))).toMatchObject({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });
});
