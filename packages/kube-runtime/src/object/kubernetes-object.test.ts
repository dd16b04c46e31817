import { describe, expect, it } from 'vitest';
import { keyOf } from './api-object.js';
import { compareByAge, isBeingDeleted, type KubernetesObject } from './kubernetes-object.js';
import { isOlderVersion } from './resource-version.js';
import { formatTime, parseTime } from './time.js';

const created = (creationTimestamp: string | undefined, namespace: string | undefined, name: string): KubernetesObject => ({
  metadata: {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  },
});

describe('compareByAge', () => {
  it('orders by age, then by namespace, then by name', () => {
    const inOrder = [
      created(undefined, undefined, 'z'),
      created('2026-01-01T00:00:00Z', undefined, 'y'),
      created('2026-01-01T00:00:00Z', 'a', 'x'),
      created('2026-01-01T00:00:00Z', 'b', 'v'),
      created('2026-01-01T00:00:00Z', 'b', 'w'),
      created('2026-01-02T00:00:00Z', 'a', 'a'),
    ];
    for (const [index, one] of inOrder.entries()) {
      expect(inOrder.map((other) => compareByAge(one, other))).toEqual(inOrder.map((_, at) => Math.sign(index - at)));
    }
  });
});

it.each<[string | null | undefined, boolean]>([
  [undefined, false],
  [null, false],
  ['2026-01-01T00:00:00Z', true],
])('an object with the deletionTimestamp %j is being deleted: %j', (deletionTimestamp, expected) => {
  const metadata = { name: 'a', deletionTimestamp } as KubernetesObject['metadata'];
  expect(isBeingDeleted({ metadata })).toBe(expected);
});

it.each([
  [{ name: 'a' }, 'a'],
  [{ name: 'a', namespace: '' }, 'a'],
  [{ name: 'a', namespace: 'default' }, 'default/a'],
])('the key of %j is %s', (metadata, key) => {
  expect(keyOf({ metadata })).toBe(key);
});

it.each<[string, string, boolean]>([
  ['1', '2', true],
  ['2', '1', false],
  ['2', '2', false],
  ['9', '10', true],
  ['10', '9', false],
  ['10', '19', true],
  ['90071992547409921', '90071992547409930', true],
  ['', '5', false],
  ['1', '', false],
  ['a1', '22', false],
  ['1a', '222', false],
  ['1', 'a22', false],
  ['1', '22a', false],
  ['a', 'b', false],
])('version %j is older than %j: %j', (version, than, expected) => {
  expect(isOlderVersion(version, than)).toBe(expected);
});

describe('times', () => {
  it('are written in whole seconds of UTC, and read again', () => {
    expect(formatTime(1_767_225_600_999)).toBe('2026-01-01T00:00:00Z');
    expect(parseTime('2026-01-01T00:00:00Z')).toBe(1_767_225_600_000);
  });

  it.each([undefined, '', 'yesterday'])('%j is no time', (text) => {
    expect(parseTime(text)).toBeNaN();
  });
});
