import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../api-object.js';
import { validateObject, validateStatus } from './validate.js';

const notChecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** An object whose `spec` has one field `x`, and a rule somewhere, so that it shows what stops rules. */
function schemaOf(x: JsonObject): JsonObject {
  const holds = [{ rule: 'true' }];
  return { type: 'object', properties: { spec: { type: 'object', properties: { x }, 'x-kubernetes-validations': holds } } };
}

function causesOf(schema: JsonObject, x: Json, old?: Json): string[] {
  const causes = validateObject(schemaOf(schema), { spec: { x } }, old === undefined ? undefined : { spec: { x: old } });
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

describe('the structure of an object', () => {
  it.each<readonly [string, JsonObject, Json, string]>([
    ['type', { type: 'boolean' }, 'yes', 'spec.x: Invalid value: "string": spec.x in body must be of type boolean: "string"'],
    ['type', { type: 'string' }, 5, 'spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"'],
    [
      'type',
      { type: 'array', items: { type: 'string' } },
      {},
      'spec.x: Invalid value: "object": spec.x in body must be of type array: "object"',
    ],
    [
      'int-or-string',
      { 'x-kubernetes-int-or-string': true },
      true,
      'spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
    ],
    [
      'null in a list',
      { type: 'array', items: { type: 'string' } },
      [null],
      'spec.x[0]: Invalid value: "null": spec.x[0] in body must be of type string: "null"',
    ],
    ['maxLength', { type: 'string', maxLength: 2 }, 'abc', 'spec.x: Too long: may not be more than 2 bytes'],
    [
      'maxItems',
      { type: 'array', maxItems: 1, items: { type: 'string' } },
      ['a', 'b'],
      'spec.x: Too many: 2: must have at most 1 items',
    ],
    [
      'maxProperties',
      { type: 'object', maxProperties: 1, additionalProperties: { type: 'integer' } },
      { a: 1, b: 2 },
      'spec.x: Too many: 2: must have at most 1 items',
    ],
    [
      'format ipv4',
      { type: 'string', format: 'ipv4' },
      '1.2.3.300',
      'spec.x: Invalid value: "1.2.3.300": spec.x in body must be of type ipv4: "1.2.3.300"',
    ],
    [
      'format of an empty string',
      { type: 'string', format: 'ipv4' },
      '',
      'spec.x: Invalid value: "": spec.x in body must be of type ipv4: ""',
    ],
    [
      'format date-time',
      { type: 'string', format: 'date-time' },
      'yesterday',
      'spec.x: Invalid value: "yesterday": spec.x in body must be of type date-time: "yesterday"',
    ],
    [
      'format cidr',
      { type: 'string', format: 'cidr' },
      '1.2.3.4',
      'spec.x: Invalid value: "1.2.3.4": spec.x in body must be of type cidr: "1.2.3.4"',
    ],
    [
      'format mac',
      { type: 'string', format: 'mac' },
      'zz',
      'spec.x: Invalid value: "zz": spec.x in body must be of type mac: "zz"',
    ],
    ['enum of strings', { type: 'string', enum: ['A', 'B'] }, 'C', 'spec.x: Unsupported value: "C": supported values: "A", "B"'],
    ['enum of integers', { type: 'integer', enum: [1, 2] }, 3, 'spec.x: Unsupported value: 3: supported values: "1", "2"'],
    ['required', { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, {}, 'spec.x.a: Required value'],
    [
      'additionalProperties',
      { type: 'object', additionalProperties: { type: 'integer' } },
      { a: 'x' },
      'spec.x.a: Invalid value: "string": spec.x.a in body must be of type integer: "string"',
    ],
    [
      'embedded resource',
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      { apiVersion: 'v1' },
      'spec.x.kind: Required value',
    ],
  ])('%s stops the rules: %j %j', (_, schema, value, cause) => {
    expect(causesOf(schema, value)).toEqual([cause, notChecked]);
  });

  it.each<readonly [string, JsonObject, Json, string]>([
    [
      'minimum',
      { type: 'integer', minimum: 0 },
      -5,
      'spec.x: Invalid value: -5: spec.x in body should be greater than or equal to 0',
    ],
    [
      'exclusive minimum',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      0,
      'spec.x: Invalid value: 0: spec.x in body should be greater than 0',
    ],
    [
      'maximum',
      { type: 'integer', maximum: 1_000_000 },
      1_000_001,
      'spec.x: Invalid value: 1000001: spec.x in body should be less than or equal to 1e+06',
    ],
    ['multipleOf', { type: 'integer', multipleOf: 5 }, 7, 'spec.x: Invalid value: 7: spec.x in body should be a multiple of 5'],
    [
      'int32',
      { type: 'integer', format: 'int32' },
      3_000_000_000,
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
    ],
    [
      'minLength before pattern',
      { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
      'A',
      'spec.x: Invalid value: "A": spec.x in body should be at least 2 chars long',
    ],
    [
      'pattern',
      { type: 'string', pattern: '^[a-z]+$' },
      'AB',
      'spec.x: Invalid value: "AB": spec.x in body should match \'^[a-z]+$\'',
    ],
    [
      'minItems',
      { type: 'array', minItems: 1, items: { type: 'string' } },
      [],
      'spec.x: Invalid value: 0: spec.x in body should have at least 1 items',
    ],
    [
      'minProperties',
      { type: 'object', minProperties: 1, additionalProperties: { type: 'integer' } },
      {},
      'spec.x: Invalid value: 0: spec.x in body should have at least 1 properties',
    ],
    [
      'set',
      { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      ['a', 'b', 'a'],
      'spec.x[2]: Duplicate value: "a"',
    ],
    [
      'list map',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' } } },
      },
      [{ k: 'x' }, { k: 'x' }],
      'spec.x[1]: Duplicate value: {"k":"x"}',
    ],
    [
      'oneOf, both',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      { a: '1', b: '2' },
      '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ])('%s does not stop the rules', (_, schema, value, cause) => {
    expect(causesOf(schema, value)).toEqual([cause]);
  });

  it.each<readonly [string, JsonObject, Json]>([
    [
      'a format on a list does not apply to its items',
      { type: 'array', format: 'ipv4', items: { type: 'string' } },
      ['no address'],
    ],
    ['an unknown format has no effect', { type: 'string', format: 'colour' }, 'x'],
    ['an integer is a number', { type: 'number' }, 1],
    ['characters are counted, not code units', { type: 'string', maxLength: 2 }, '😀😀'],
    ['null where it is allowed', { type: 'string', nullable: true }, null],
    ['int-or-string by pattern', { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, '25%'],
  ])('accepts: %s', (_, schema, value) => {
    expect(causesOf(schema, value)).toEqual([]);
  });

  it('reports a fraction twice', () => {
    expect(causesOf({ type: 'integer' }, 1.5)).toEqual([
      'spec.x: Invalid value: "number": spec.x in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.x',
      notChecked,
    ]);
  });

  it('reports fields by name, missing ones last in the order of the schema', () => {
    const schema = {
      type: 'object',
      required: ['z', 'a'],
      properties: { b: { type: 'integer' }, a: { type: 'string' }, z: { type: 'string' }, c: { type: 'integer' } },
    };
    expect(causesOf(schema, { c: 'x', b: 'x' }).map((cause) => cause.split(':')[0])).toEqual([
      'spec.x.b',
      'spec.x.c',
      'spec.x.z',
      'spec.x.a',
      '<nil>',
    ]);
  });

  it('reports nothing about rules if there are none', () => {
    const schema = { type: 'object', required: ['spec'], properties: { spec: { type: 'object' } } };
    expect(validateObject(schema, {}).map(({ field }) => field)).toEqual(['spec']);
  });
});

describe('ratcheting', () => {
  const short = { type: 'string', maxLength: 2 };

  it('tolerates a bad value that did not change, and no new one', () => {
    expect(causesOf(short, 'abc', 'abc')).toEqual([]);
    expect(causesOf(short, 'abd', 'abc')).toHaveLength(2);
  });

  it('tolerates a missing field of an object that did not change, not of one that did', () => {
    const schema = { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'string' } } };
    expect(causesOf(schema, { b: '1' }, { b: '1' })).toEqual([]);
    expect(causesOf(schema, { b: '2' }, { b: '1' })).toEqual(['spec.x.a: Required value', notChecked]);
  });

  it('finds the old item by its keys in a list map, and in no other list', () => {
    const items = { type: 'object', properties: { k: { type: 'string' }, v: short } };
    const [bad, good] = [
      { k: 'a', v: 'abc' },
      { k: 'b', v: 'x' },
    ];
    const listMap = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    expect(causesOf(listMap, [good, { ...bad }], [bad])).toEqual([]);
    expect(causesOf({ type: 'array', items }, [good, { ...bad }], [bad])).toHaveLength(2);
  });

  it('tolerates duplicates in an object that had some', () => {
    const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
    expect(causesOf(set, ['a', 'a', 'b'], ['a', 'a'])).toEqual([]);
    expect(causesOf(set, ['a', 'a'], ['a'])).toHaveLength(1);
  });
});

describe('a write to the status', () => {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', required: ['missing'], properties: { missing: { type: 'string' } } },
      status: { type: 'object', properties: { count: { type: 'integer', minimum: 0 }, state: { type: 'string', enum: ['Ok'] } } },
    },
  };

  it('is not held against the spec, and names fields without "status." in the texts', () => {
    const causes = validateStatus(schema, { spec: {}, status: { count: -1, state: 'No' } }, { spec: {} });
    expect(causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'status.count',
        message: 'Invalid value: -1: count in body should be greater than or equal to 0',
      },
      { reason: 'FieldValueNotSupported', field: 'status.state', message: 'Unsupported value: "No": supported values: "Ok"' },
    ]);
  });
});
