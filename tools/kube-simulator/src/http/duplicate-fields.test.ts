import { expect, it } from 'vitest';
import { duplicateFields } from './duplicate-fields.js';

it.each([
  ['{"a":1,"b":{"a":2}}', []],
  ['{"spec":{"n":1,"n":2}}', ['spec.n']],
  ['{"l":[{"a":1},{"a":1,"a":"}"}],"l":null}', ['l[1].a', 'l']],
  ['{"a\\"":1 , "a\\\\" : [1, 2,{}], "a\\"":true}', ['a\\"']],
  ['[]', []],
])('keys that %s has twice are %j', (text, expected) => {
  expect(duplicateFields(text)).toEqual(expected);
});
