// Fails where a word is used that docs/glossary.md retires: in docs, and in the file names, code, comments, messages and test titles of
// packages, tools and scripts; and where a sentence is strange English (plain-english.mjs). It tries its own rules first: a check that
// finds nothing would pass forever.
import { globSync, readFileSync } from 'node:fs';
import { findStrangeEnglish, PLAIN_ENGLISH } from './plain-english.mjs';
import { findRetiredWords, RETIRED_WORDS } from './retired-words.mjs';

const DOCS = ['*.md', 'docs/**/*.md', '{packages,tools}/*/README.md', '.changeset/*.md', 'examples/**/*.yaml'];
const CODE = ['packages', 'tools', 'scripts'];
// The rules themselves; recorded packets and answers of other programs; a text of other authors.
const LEFT_OUT =
  /node_modules|\/dist\/|^docs\/glossary\.md$|^CODE_OF_CONDUCT\.md$|(retired-words|plain-english|check-words)\.mjs$|\/fixtures\/|\/recordings\//;

const problems = [...tryRetiredWords(), ...tryPlainEnglish(), ...compareWithGlossary()];
for (const path of filesOf([...DOCS, ...CODE.map((folder) => `${folder}/**/*.{ts,mjs,json,yaml,md}`)]))
  problems.push(...check(path));
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

function filesOf(patterns) {
  return [...new Set(patterns.flatMap((pattern) => globSync(pattern)))].filter((path) => !LEFT_OUT.test(path));
}

/** The name of a file is searched for retired words like its text. */
function check(path) {
  const text = readFileSync(path, 'utf8');
  return [
    ...findRetiredWords(path).map(({ found, word }) => describe(path, found, word)),
    ...findRetiredWords(text).map(({ line, found, word }) => describe(`${path}:${line}`, found, word)),
    ...findStrangeEnglish(text).map(
      ({ line, found, rule, instead }) => `${path}:${line}: "${found}" is ${rule}; write ${instead}`,
    ),
  ];
}

function describe(place, found, word) {
  return `${place}: "${found}" is retired (${word}); docs/glossary.md has what to use instead`;
}

/** Every rule must find its examples, also across a line break, and nothing in what is allowed. */
function tryRetiredWords() {
  const overTwoLines = (text) => text.replace(' ', '\n * ');
  return RETIRED_WORDS.flatMap(({ word, found, allowed }) =>
    tryRule({ name: word, found: [...found, ...found.map(overTwoLines)], allowed }, (text) =>
      findRetiredWords(text).some((hit) => hit.word === word),
    ),
  );
}

function tryPlainEnglish() {
  return PLAIN_ENGLISH.flatMap(({ rule, found, allowed }) =>
    tryRule({ name: rule, found, allowed }, (text) => findStrangeEnglish(text).some((hit) => hit.rule === rule)),
  );
}

function tryRule({ name, found, allowed }, finds) {
  return [
    ...found.filter((text) => !finds(text)).map((text) => `the rule "${name}" does not find "${text}"`),
    ...allowed.filter(finds).map((text) => `the rule "${name}" finds "${text}", which is allowed`),
  ];
}

/** The rules and the table of the glossary must retire the same words. */
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
