// docs/glossary.md retires words; this check fails where one is used: in docs, and in the names of files, the code, comments, messages and
// test titles of packages, tools and scripts. First it tries itself: a check that finds nothing would pass for ever.
import { globSync, readFileSync } from 'node:fs';
import { findRetiredWords, RETIRED_WORDS } from './retired-words.mjs';

const DOCS = ['*.md', 'docs/**/*.md', '{packages,tools}/*/README.md', '.changeset/*.md', 'examples/**/*.yaml'];
const CODE = ['packages', 'tools', 'scripts'];
// The list of retired words itself; recorded packets and answers of other programs; a text of other authors.
const LEFT_OUT =
  /node_modules|\/dist\/|^docs\/glossary\.md$|^CODE_OF_CONDUCT\.md$|retired-words\.mjs$|check-words\.mjs$|\/fixtures\/|\/recordings\//;

const problems = [...tryRules(), ...compareWithGlossary()];
for (const path of filesOf([...DOCS, ...CODE.map((folder) => `${folder}/**/*.{ts,mjs,json,yaml,md}`)]))
  problems.push(...check(path));
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

function filesOf(patterns) {
  return [...new Set(patterns.flatMap((pattern) => globSync(pattern)))].filter((path) => !LEFT_OUT.test(path));
}

/** The name of a file counts like its text. */
function check(path) {
  const inName = findRetiredWords(path).map(({ found, word }) => describe(path, found, word));
  const inText = findRetiredWords(readFileSync(path, 'utf8'));
  return [...inName, ...inText.map(({ line, found, word }) => describe(`${path}:${line}`, found, word))];
}

function describe(place, found, word) {
  return `${place}: "${found}" is retired (${word}); docs/glossary.md has what to use instead`;
}

/** Every rule finds its examples, also over the end of a line, and nothing in what is allowed. */
function tryRules() {
  return RETIRED_WORDS.flatMap(({ word, found, allowed }) => {
    const finds = (text) => findRetiredWords(text).some((hit) => hit.word === word);
    const overTwoLines = found.map((text) => text.replace(' ', '\n * '));
    return [
      ...[...found, ...overTwoLines].filter((text) => !finds(text)).map((text) => `the rule "${word}" does not find "${text}"`),
      ...allowed.filter(finds).map((text) => `the rule "${word}" finds "${text}", which is allowed`),
    ];
  });
}

/** What is retired and what the glossary names as retired are the same. */
function compareWithGlossary() {
  const [, table = ''] = readFileSync('docs/glossary.md', 'utf8').split('## Retired words');
  const named = table
    .split('\n')
    .filter((row) => row.startsWith('| ') && !/^\| (---|retired)/.test(row))
    .map((row) => row.split(' | ')[0].slice(2));
  const words = RETIRED_WORDS.map(({ word }) => word);
  return [
    ...words.filter((word) => !named.includes(word)).map((word) => `docs/glossary.md does not name the retired word "${word}"`),
    ...named
      .filter((word) => !words.includes(word))
      .map((word) => `docs/glossary.md retires "${word}"; scripts/retired-words.mjs has no rule for it`),
  ];
}
