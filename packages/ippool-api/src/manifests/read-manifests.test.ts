import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readManifests } from './index.js';

const valuesOf = (text: string) => readManifests(text).objects.map(({ value }) => value);
const problemsOf = (text: string) =>
  readManifests(text).problems.map(({ line, column, message, remedy }) => `${line}:${column} ${message}; ${remedy}`);

describe('the objects of a text', () => {
  it.each<[what: string, text: string, values: unknown[]]>([
    ['nothing', '', []],
    ['comments', '# nothing\n---\n# here\n', []],
    ['one', 'kind: A\n', [{ kind: 'A' }]],
    ['several documents', 'kind: A\n---\nkind: B\n---\n', [{ kind: 'A' }, { kind: 'B' }]],
    ['JSON', '{"kind": "A"}', [{ kind: 'A' }]],
    ['a list', 'kind: List\nitems:\n- kind: A\n- kind: B\n', [{ kind: 'A' }, { kind: 'B' }]],
    ['a list of a kind', 'kind: IPPoolList\nitems:\n- kind: A\n', [{ kind: 'A' }]],
    ['a list in a list', 'kind: List\nitems:\n- kind: List\n  items: [{kind: A}]\n', [{ kind: 'A' }]],
    ['a list without items is an object', 'kind: List\n', [{ kind: 'List' }]],
    ['an alias', 'a: &x 1\nb: *x\n', [{ a: 1, b: 1 }]],
    ['text', 'hello', ['hello']],
    ['words that the API server reads as true', '[On, yes, Y, true]', [[true, true, true, true]]],
    ['words that the API server reads as false', '[off, No, n, false]', [[false, false, false, false]]],
    [
      'the same words in quotes, and longer ones',
      `["On", 'no', Once, 02:00:00:00:48:01]`,
      [['On', 'no', 'Once', '02:00:00:00:48:01']],
    ],
  ])('%s', (_what, text, values) => expect(valuesOf(text)).toEqual(values));

  it('a field has its position, and a missing field has that of its parent', () => {
    const [, second] = readManifests('kind: A\n---\nkind: List\nitems:\n  - kind: B\n    spec:\n      x: 1\n').objects.concat();
    expect(second?.positionOf(['spec', 'x'])).toEqual({ line: 7, column: 10 });
    expect(second?.positionOf(['spec', 'y'])).toEqual({ line: 7, column: 7 });
    expect(second?.positionOf([])).toEqual({ line: 5, column: 5 });
  });
});

describe('invalid YAML, explained', () => {
  it.each<[what: string, text: string, problems: string[]]>([
    ['a field twice', 'a: 1\na: 2\n', ['2:1 the field stands there twice; keep one of the two']],
    ['a tab', 'a:\n\tb: 1\n', ['2:1 a tab is used for indentation; use spaces']],
    [
      'a value that goes on',
      'a: b: c\n',
      [
        '1:4 a group of fields stands where one value has to be; write it on lines of its own, indented; or quote a text that has ": " in it',
      ],
    ],
    [
      'a quote that does not end',
      'a: "b\n',
      ['2:1 a character is missing: a quote, a bracket, a comma or a colon; complete the line, or the one before it'],
    ],
    [
      'aliases that grow without bound',
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c]\n`,
      ['1:1 the aliases of this document repeat too much, or name no anchor; write the values instead of aliases'],
    ],
    [
      'many aliases that each repeat little',
      Array.from({ length: 40 }, (_, anchor) => `- &a${anchor} [x, x, x]\n${`- *a${anchor}\n`.repeat(99)}`).join(''),
      ['1:1 the aliases of this document repeat too much, or name no anchor; write the values instead of aliases'],
    ],
    [
      'documents whose aliases repeat too much together',
      Array.from({ length: 3 }, () => `- &a [${'x,'.repeat(99)}]\n${'- *a\n'.repeat(50)}`).join('---\n'),
      ['105:1 the aliases of this document repeat too much, or name no anchor; write the values instead of aliases'],
    ],
  ])('%s', (_what, text, problems) => expect(problemsOf(text)).toEqual(problems));

  it('aliases that repeat little are values, however many', () => {
    const [object] = valuesOf(`a: &a [x, z]\n${Array.from({ length: 60 }, (_, index) => `b${index}: *a\n`).join('')}`);
    expect(Object.values(object as object)).toEqual(Array.from({ length: 61 }, () => ['x', 'z']));
  });

  it('one invalid document does not hide the others', () => {
    const { objects, problems } = readManifests('a: 1\na: 2\n---\nkind: B\n');
    expect([objects.length, problems.length]).toEqual([1, 1]);
  });

  it('law: any text is read, and every position is inside it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab: -[]{}"\'\n\t*&!%#|>,?') }), (text) => {
        const { objects, problems } = readManifests(text);
        for (const { line, column } of [...problems, ...objects.map(({ positionOf }) => positionOf(['a', 0]))]) {
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
        }
      }),
    );
  });
});
