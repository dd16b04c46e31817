import { expect, it } from 'vitest';
import { isOlderVersion } from './resource-version.js';

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
