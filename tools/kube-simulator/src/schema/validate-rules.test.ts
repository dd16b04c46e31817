import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../api-object.js';
import { validateObject } from './validate.js';

function causesOf(x: JsonObject, value: Json, old?: Json): string[] {
  const schema = { type: 'object', properties: { x } };
  const causes = validateObject(schema, { x: value }, old === undefined ? undefined : { x: old });
  return causes.map(({ reason, field, message }) => `${reason} ${field}: ${message}`);
}

function ruled(schema: JsonObject, ...rules: JsonObject[]): JsonObject {
  return { ...schema, 'x-kubernetes-validations': rules };
}

const text = { type: 'string' };
const integers = { type: 'object', properties: { min: { type: 'integer' }, max: { type: 'integer' } } };

describe('a rule', () => {
  it('shows scalars, no objects', () => {
    const rule = { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: 'min must not exceed max' };
    expect(causesOf(ruled(integers, rule), { min: 5, max: 1 })).toEqual([
      'FieldValueInvalid x: Invalid value: min must not exceed max',
    ]);
    expect(causesOf(ruled(integers, rule), { min: 1, max: 5 })).toEqual([]);
    expect(causesOf(ruled(text, { rule: "self != 'bad'", message: 'no' }), 'bad')).toEqual([
      'FieldValueInvalid x: Invalid value: "bad": no',
    ]);
  });

  it.each<readonly [string, string]>([
    ['FieldValueForbidden', 'FieldValueForbidden x.min: Forbidden: why'],
    ['FieldValueRequired', 'FieldValueRequired x.min: Required value: why'],
    ['FieldValueDuplicate', 'FieldValueDuplicate x.min: Duplicate value'],
    ['FieldValueInvalid', 'FieldValueInvalid x.min: Invalid value: why'],
  ])('has the reason %s and a fieldPath', (reason, cause) => {
    expect(causesOf(ruled(integers, { rule: 'false', message: 'why', reason, fieldPath: '.min' }), {})).toEqual([cause]);
  });

  it('has a text of its own, one that is computed, or none', () => {
    expect(causesOf(ruled(text, { rule: "self != 'bad'", messageExpression: "'it is ' + self" }), 'bad')).toEqual([
      'FieldValueInvalid x: Invalid value: "bad": it is bad',
    ]);
    expect(causesOf(ruled(text, { rule: 'false', message: 'reported', messageExpression: "''" }), 'a')).toEqual([
      'FieldValueInvalid x: Invalid value: "a": reported',
    ]);
    expect(causesOf(ruled(text, { rule: ' false ' }), 'a')).toEqual([
      'FieldValueInvalid x: Invalid value: "a": failed rule: false',
    ]);
  });

  it('that cannot be evaluated shows the type', () => {
    const rule = { rule: '10 / self > 0', message: 'never shown alone' };
    expect(causesOf(ruled({ type: 'integer' }, rule), 0)).toEqual([
      'FieldValueInvalid x: Invalid value: "integer": division by zero evaluating rule: never shown alone',
    ]);
    expect(causesOf(ruled(integers, { rule: 'self.min > 0' }), {})).toEqual([
      'FieldValueInvalid x: Invalid value: "object": no such key: min evaluating rule: self.min > 0',
    ]);
  });

  it('stands before those below it; fields by name, entries by key', () => {
    const schema = ruled(
      {
        type: 'object',
        properties: {
          list: { type: 'array', items: ruled(text, { rule: 'isIP(self)', message: 'no IP' }) },
          inner: { type: 'object', additionalProperties: ruled(text, { rule: 'false', message: 'never' }) },
        },
      },
      { rule: 'false', message: 'first' },
    );
    expect(causesOf(schema, { list: ['10.0.0.1', 'zz'], inner: { k: 'v' } })).toEqual([
      'FieldValueInvalid x: Invalid value: first',
      'FieldValueInvalid x.inner[k]: Invalid value: "v": never',
      'FieldValueInvalid x.list[1]: Invalid value: "zz": no IP',
    ]);
  });

  it('does not run on null', () => {
    expect(causesOf(ruled({ ...text, nullable: true }, { rule: 'false' }), null)).toEqual([]);
  });

  it('on the whole object reads its name and kind', () => {
    const schema = ruled({ type: 'object', properties: {} }, { rule: "self.metadata.name == 'good' && self.kind == 'K'" });
    expect(validateObject(schema, { kind: 'K', metadata: { name: 'good' } })).toEqual([]);
    expect(validateObject(schema, { kind: 'K', metadata: { name: 'bad' } })).toHaveLength(1);
  });
});

describe('a transition rule', () => {
  const immutable = ruled(text, { rule: 'self == oldSelf', message: 'immutable' });

  it('runs where there is an old value', () => {
    expect(causesOf(immutable, 'a')).toEqual([]);
    expect(causesOf(immutable, 'a', 'a')).toEqual([]);
    expect(causesOf(immutable, 'b', 'a')).toEqual(['FieldValueInvalid x: Invalid value: "b": immutable']);
  });

  it('does not run on what is removed, but on what it was removed from', () => {
    const object = { type: 'object', properties: { f: immutable } };
    expect(causesOf(object, {}, { f: 'a' })).toEqual([]);
    const keeps = ruled(object, { rule: '!has(oldSelf.f) || has(self.f)', message: 'required once set' });
    expect(causesOf(keeps, {}, { f: 'a' })).toEqual(['FieldValueInvalid x: Invalid value: required once set']);
    expect(causesOf(keeps, { f: 'a' }, {})).toEqual([]);
  });

  it('runs on a value that did not change, shared with the old object or not', () => {
    const grows = ruled({ type: 'array', items: text }, { rule: 'size(self) > size(oldSelf)', message: 'has to grow' });
    const list = ['a'];
    expect(causesOf(grows, list, list)).toHaveLength(1);
    expect(causesOf(grows, ['a'], list)).toHaveLength(1);
  });

  it('finds the old item in list maps only', () => {
    const items = { type: 'object', properties: { k: text, v: immutable } };
    const listMap = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const [old, now] = [
      [{ k: 'a', v: '1' }],
      [
        { k: 'b', v: '0' },
        { k: 'a', v: '2' },
      ],
    ];
    expect(causesOf(listMap, now, old)).toEqual(['FieldValueInvalid x[1].v: Invalid value: "2": immutable']);
    expect(causesOf({ type: 'array', items }, now, old)).toEqual([]);
  });

  it('with optionalOldSelf runs without an old value too', () => {
    const once = ruled(text, {
      rule: "oldSelf.hasValue() || self == 'first'",
      optionalOldSelf: true,
      message: 'must begin as first',
    });
    expect(causesOf(once, 'second')).toHaveLength(1);
    expect(causesOf(once, 'first')).toEqual([]);
    expect(causesOf(once, 'second', 'first')).toEqual([]);
    const follows = ruled({ type: 'integer' }, { rule: 'self == oldSelf.orValue(0) + 1', optionalOldSelf: true });
    expect([causesOf(follows, 1), causesOf(follows, 6, 5), causesOf(follows, 7, 5).length]).toEqual([[], [], 1]);
  });
});

describe('ratcheting of rules', () => {
  const strict = ruled({ type: 'object', properties: { a: text, b: text } }, { rule: "self.a != 'bad'", message: 'no' });

  it('tolerates what did not change', () => {
    expect(causesOf(strict, { a: 'bad', b: '1' }, { a: 'bad', b: '1' })).toEqual([]);
    expect(causesOf(strict, { a: 'bad', b: '2' }, { a: 'bad', b: '1' })).toHaveLength(1);
  });

  it('looks at the list where an item has no past', () => {
    const list = { type: 'array', items: ruled(text, { rule: "self != 'bad'", message: 'no' }) };
    expect(causesOf(list, ['bad'], ['bad'])).toEqual([]);
    expect(causesOf(list, ['bad', 'good'], ['bad'])).toHaveLength(1);
  });
});

describe('expressions', () => {
  it.each<readonly [string, JsonObject, Json]>([
    ['self.all(x, self.exists_one(y, x == y))', { type: 'array', items: text }, ['a', 'b']],
    ['isCIDR(self) && cidr(self).prefixLength() >= 8', text, '10.0.0.0/8'],
    ["cidr(self).containsIP('10.1.2.3') && !cidr(self).containsIP('11.0.0.1')", text, '10.0.0.0/8'],
    ["cidr(self).containsCIDR('10.1.0.0/16') && cidr(self).masked() == '10.0.0.0/8'", text, '10.9.0.0/8'],
    ["ip(self).family() == 6 && ip(self).isLoopback() && ip(self) == ip('0:0:0:0:0:0:0:1')", text, '::1'],
    ["ip('::ffff:1.2.3.4') == ip('::ffff:102:304') && !isIP('fe80::1%eth0')", text, ''],
    [
      'self.foo__dash__bar == 1 && self.__in__ == 2',
      { type: 'object', properties: { 'foo-bar': { type: 'integer' }, in: { type: 'integer' } } },
      { 'foo-bar': 1, in: 2 },
    ],
    [
      'has(self.n) && self.n == null && !has(self.m)',
      { type: 'object', properties: { n: { ...text, nullable: true }, m: text } },
      { n: null },
    ],
    [
      'self.half * 2.0 == 1.0 && self.one + 1 == 2',
      { type: 'object', properties: { half: { type: 'number' }, one: { type: 'integer' } } },
      { half: 0.5, one: 1 },
    ],
    ["timestamp('2026-01-01T00:00:00Z') < self", { type: 'string', format: 'date-time' }, '2026-01-02T00:00:00Z'],
    ["self < duration('2h')", { type: 'string', format: 'duration' }, '90m'],
    [
      "self.exists(k, k == 'a') && self['a'] == 1 && size(self) == 2",
      { type: 'object', additionalProperties: { type: 'integer' } },
      { a: 1, b: 2 },
    ],
    [
      'self.ports.sum() == 3 && self.ports.max() == 2 && self.ports.isSorted() && self.ports.indexOf(2) == 1',
      { type: 'object', properties: { ports: { type: 'array', items: { type: 'integer' } } } },
      { ports: [1, 2] },
    ],
    [
      "sets.contains(self, ['a']) && !sets.intersects(self, ['z']) && sets.equivalent(self, ['b', 'a'])",
      { type: 'array', items: text },
      ['a', 'b'],
    ],
    ["self.find('[0-9]+') == '12' && self.matches('^[a-z]') && self.lowerAscii().split('-')[0] == 'a'", text, 'a-12'],
    [
      "url(self).getHost() == 'example.com:80' && url(self).getScheme() == 'https' && !isURL('no url')",
      text,
      'https://example.com:80/x',
    ],
    ['self == 5 || self == "5%"', { 'x-kubernetes-int-or-string': true }, '5%'],
  ])('%s', (rule, schema, value) => {
    expect(causesOf(ruled(schema, { rule }), value)).toEqual([]);
  });
});
