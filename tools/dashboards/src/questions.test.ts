import { expect, it } from 'vitest';
import { queriesOf, questionsIn, withOutputs } from './questions.js';

const PAGE = `# Page

Text.

## Pools

### 1. Is it full?

\`\`\`sh
kubectl vmdhcp pools -A
\`\`\`

\`\`\`promql
max(free) < 1
\`\`\`

\`\`\`
NAME
net
\`\`\`

Make it larger.

### 2. Who?

\`\`\`sh
one
two
\`\`\`

No query: no metric has names.

\`\`\`
\`\`\`

Ask again.

Next: [x](x.md).
`;

it('reads questions with all of their parts', () => {
  const [one, two] = questionsIn(PAGE);
  expect(one).toEqual({
    number: 1,
    title: 'Is it full?',
    command: 'kubectl vmdhcp pools -A',
    query: 'max(free) < 1',
    withoutQuery: undefined,
    output: 'NAME\nnet',
    next: 'Make it larger.',
  });
  expect(two).toMatchObject({
    number: 2,
    command: 'one\ntwo',
    query: undefined,
    withoutQuery: 'no metric has names.',
    output: '',
  });
  expect(queriesOf(questionsIn(PAGE))).toEqual([{ title: 'question 1 of docs/operations.md', expression: 'max(free) < 1' }]);
});

it('replaces outputs and nothing else, with a text that has what String.replace takes for a pattern', () => {
  const outputs = new Map([
    [1, 'NAME\n$& $1'],
    [2, 'x'],
  ]);
  const written = withOutputs(PAGE, outputs);
  expect(questionsIn(written).map(({ output }) => output)).toEqual(['NAME\n$& $1', 'x']);
  expect(written.replace('$& $1', 'net').replace('```\nx\n```', '```\n```')).toBe(PAGE);
  expect(withOutputs(PAGE, new Map())).toBe(PAGE);
});

it.each<[what: string, page: string]>([
  ['command', PAGE.replace('```sh\n', '```text\n')],
  ['output', PAGE.replace('```\nNAME', '```text\nNAME')],
  ['next step', PAGE.replace('Make it larger.', '')],
])('refuses a question without its %s', (_what, page) => {
  expect(() => questionsIn(page)).toThrow('question 1 needs a block');
});

it.each<[what: string, page: string]>([
  ['neither', PAGE.replace(/^No query: .*$/m, '')],
  ['both', PAGE.replace('Ask again.', 'Ask again.\n\n```promql\nmax(free)\n```\n\nAsk again.')],
])('refuses a question with %s of a query and the reason why there is none', (_what, page) => {
  expect(() => questionsIn(page)).toThrow('question 2 needs either a block of promql, or a line "No query:" with the reason');
});
