import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject, jsonEqual } from '../json-equal.js';
import { listOf, objectOf } from '../json-parts.js';
import { difference, type FieldSet, formatFields, intersection, union } from './field-set.js';
import { applyJsonPatch } from './json-patch.js';
import { recordUpdate } from './managed-fields.js';
import { applyMergePatch } from './merge-patch.js';
import { applyConfiguration } from './server-side-apply.js';

const name = fc.constantFrom('a', 'b', 'c');
const object = <T>(value: fc.Arbitrary<T>) => fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true });
const json = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, 1, 2, 'x'), tie('object'), fc.array(tie('value'), { maxLength: 3 })),
  object: object(tie('value')),
}));

describe('laws of patches', () => {
  it('a merge patch follows RFC 7396, changes none of its arguments, and returns an equal object itself', () => {
    fc.assert(
      fc.property(json.object, json.object, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const after = applyMergePatch(target, patch);
        expect(after).toEqual(mergePatchOfTheRfc(target, patch));
        expect(JSON.stringify([target, patch])).toBe(before);
        if (JSON.stringify(after) === JSON.stringify(target)) expect(after).toBe(target);
      }),
    );
  });

  it('operations of a JSON patch do the same together as one by one, and change nothing they were given', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', '0', '1', '-'), { minLength: 1, maxLength: 3 })
      .map((steps) => `/${steps.join('/')}`);
    const operation = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value: json.value }, { noNullPrototype: true }),
      fc.record({ op: fc.constant('remove'), path }, { noNullPrototype: true }),
      fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }, { noNullPrototype: true }),
    );
    fc.assert(
      fc.property(json.object, fc.array(operation, { maxLength: 6 }), (target, operations) => {
        const before = JSON.stringify([target, operations]);
        const oneByOne = operations.reduce<JsonObject | 'refused'>(
          (current, one) =>
            current === 'refused' ? current : patchedOrRefused(structuredClone(current), [structuredClone(one)]),
          target,
        );
        expect(patchedOrRefused(target, operations)).toEqual(oneByOne);
        expect(JSON.stringify([target, operations])).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});

function mergePatchOfTheRfc(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, Json | undefined> = { ...objectOf(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete merged[key];
    else merged[key] = mergePatchOfTheRfc(merged[key], value);
  }
  return merged;
}

function patchedOrRefused(target: JsonObject, operations: readonly JsonObject[]): JsonObject | 'refused' {
  try {
    return applyJsonPatch(target, operations);
  } catch (error) {
    if (error instanceof ApiError) return 'refused';
    throw error;
  }
}

describe('laws of field sets', () => {
  const fieldSet = fc.letrec<{ set: FieldSet }>((tie) => ({
    set: fc.dictionary(
      name.map((field) => `f:${field}`),
      fc.oneof({ maxDepth: 3 }, fc.constant({}), tie('set'), tie('set').map(withDot)),
      { maxKeys: 3, noNullPrototype: true },
    ),
  })).set;

  it('union, difference and intersection are those of the places', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, (a, b) => {
        const [x, y] = [new Set(formatFields(a)), new Set(formatFields(b))];
        expect(new Set(formatFields(union(a, b)))).toEqual(new Set([...x, ...y]));
        expect(formatFields(difference(a, b)).toSorted()).toEqual([...x].filter((place) => !y.has(place)).toSorted());
        expect(formatFields(intersection(a, b)).toSorted()).toEqual([...x].filter((place) => y.has(place)).toSorted());
        expect(union(a, a)).toBe(a);
        expect(difference(a, {})).toBe(a);
      }),
    );
  });
});

function withDot(set: FieldSet): FieldSet {
  return Object.keys(set).length === 0 ? set : { '.': {}, ...set };
}

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: text,
        inner: { type: 'object', properties: { a: text, b: text } },
        map: { type: 'object', additionalProperties: text },
        atom: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: text, v: text, w: text } },
        },
        list: { type: 'array', items: text },
      },
    },
  },
};

describe('laws of server-side apply', () => {
  const optional = (fields: Record<string, fc.Arbitrary<Json>>) =>
    fc.record(fields, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
  const word = fc.constantFrom('x', 'y', 'z');
  const item = fc.tuple(word, optional({ v: word, w: word })).map(([k, rest]): JsonObject => ({ k, ...rest }));
  const spec = optional({
    a: word,
    inner: optional({ a: word, b: word }),
    map: object(word),
    atom: object(word),
    set: fc.uniqueArray(word, { maxLength: 3 }),
    items: fc.uniqueArray(item, { maxLength: 3, selector: (one) => one['k'] }),
    list: fc.array(word, { maxLength: 2 }),
  });
  const step = fc.record({ manager: fc.constantFrom('apply-1', 'apply-2', 'update-1', 'update-2'), spec, force: fc.boolean() });

  it('applied fields are there, applying them again does not write, and owned fields exist, after any story', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        let live: JsonObject | undefined;
        for (const [index, { manager, spec: content, force }] of steps.entries()) {
          const written = { apiVersion: 'p/v1', kind: 'P', metadata: { name: 'p' }, spec: content };
          const time = `t${index}`;
          if (manager.startsWith('update')) {
            const after = { ...written, metadata: live?.['metadata'] ?? written.metadata };
            live = recordUpdate({ before: live, after, manager, time, apiVersion: 'p/v1', schema });
            expect(live['spec']).toEqual(content);
          } else {
            const applied = appliedOrConflict({ live, applied: written, manager, force, schema, time });
            if (applied === 'conflict') {
              expect(force).toBe(false);
              continue;
            }
            live = applied;
            expect(contains(live['spec'], content, 'spec')).toBe(true);
            expect(applyConfiguration({ live, applied: written, manager, schema, time: 'later' })).toBe(live);
          }
          for (const entry of listOf(objectOf(live['metadata'])['managedFields'])) {
            expect(missingPlaces(live, objectOf(objectOf(entry)['fieldsV1']))).toEqual([]);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});

function appliedOrConflict(application: Parameters<typeof applyConfiguration>[0]): JsonObject | 'conflict' {
  try {
    return applyConfiguration(application);
  } catch (error) {
    if (error instanceof ApiError && error.failure.code === 409) return 'conflict';
    throw error;
  }
}

/** True when all that `part` names is in `whole`, as far as the field called `field` is shared. */
function contains(whole: Json | undefined, part: Json | undefined, field: string): boolean {
  if (field === 'atom' || field === 'list') return jsonEqual(whole, part);
  if (field === 'set') return listOf(part).every((value) => listOf(whole).includes(value));
  if (field === 'items') {
    const find = (one: Json): Json | undefined => listOf(whole).find((other) => objectOf(other)['k'] === objectOf(one)['k']);
    return listOf(part).every((one) => contains(find(one), one, 'item'));
  }
  if (!isJsonObject(part)) return whole === part;
  return isJsonObject(whole) && Object.keys(part).every((key) => contains(whole[key], part[key], key));
}

function missingPlaces(value: Json | undefined, fields: FieldSet): string[] {
  return Object.keys(fields).flatMap((element) => {
    if (element === '.') return [];
    const found = placeIn(value, element);
    return found === undefined ? [element] : missingPlaces(found, objectOf(fields[element]));
  });
}

function placeIn(value: Json | undefined, element: string): Json | undefined {
  const called = element.slice(2);
  if (element.startsWith('f:')) return objectOf(value)[called];
  const wanted = JSON.parse(called) as Json;
  return listOf(value).find((item) => (isJsonObject(wanted) ? objectOf(item)['k'] === wanted['k'] : item === wanted));
}
