import { describe, expect, it } from 'vitest';
import { fieldsOf, itemsOf, parseJson, textOf } from './read-json.js';

describe('JSON that another program wrote', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['{', undefined],
    ['7', 7],
    ['{"a":[1]}', { a: [1] }],
  ])('%j is parsed as %j', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each([undefined, null, 7, 'text', [1]])('%j has no fields', (value) => {
    expect(fieldsOf(value)).toEqual({});
  });

  it('an object has its fields, an array its items, and text is itself', () => {
    expect(fieldsOf({ a: 1 })).toEqual({ a: 1 });
    expect([itemsOf([1, 2]), itemsOf({ 0: 1 }), itemsOf('ab')]).toEqual([[1, 2], [], []]);
    expect([textOf(''), textOf('a'), textOf(7), textOf(null)]).toEqual(['', 'a', undefined, undefined]);
  });
});
