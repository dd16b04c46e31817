// The records in docs/decisions are short and have one form; whatever names one names one that exists; the index lists each of them once.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const FOLDER = 'docs/decisions';
const INDEX = `${FOLDER}/README.md`;
const MOST_WORDS = 300;
const MOST_WORDS_IN_ALL = 15_000;
const HEADINGS = ['## Context', '## Decision', '## Consequences'];
/** Where a record may be named: `ADR 9`, or a path that ends in `decisions/0009` or `decisions/0009-title.md`. */
const NAMING = [
  '**/*.md',
  '{packages,tools,scripts,charts,manifests,alerts,examples,.github}/**/*.{ts,mjs,js,go,yaml,yml,tpl,json}',
];
const BUILT = /(^|\/)(node_modules|dist|program)(\/|$)/;
/** Written from the sources, which are read. */
const LEFT_OUT = /^docs\/reference\/|^tools\/[^/]+\/fixtures\/|check-decisions\.mjs$/;

/**
 * What is wrong with the records and with what names them, one sentence each.
 * @param records - text by path, the index included
 * @param naming - text by path of everything that may name a record
 */
export function findWrongDecisions(records = readRecords(), naming = readNaming()) {
  const paths = Object.keys(records).filter((path) => path !== INDEX);
  const words = paths.map((path) => wordsOf(records[path]));
  const inAll = words.reduce((sum, count) => sum + count, 0);
  const index = records[INDEX] ?? '';
  return [
    ...paths.flatMap((path) => wrongForm(path, records[path])),
    ...(inAll > MOST_WORDS_IN_ALL ? [`${FOLDER} has ${inAll} words; ${MOST_WORDS_IN_ALL} are the most`] : []),
    ...paths.filter((path) => !index.includes(`](${basename(path)})`)).map((path) => `${INDEX} does not list ${path}`),
    ...Object.entries({ ...naming, ...records }).flatMap(([path, text]) =>
      wrongMentions(path, text, new Set(paths.map(numberOf))),
    ),
  ];
}

function wrongForm(path, text) {
  const number = numberOf(path);
  const lines = text.split('\n');
  const status = lines.find((line) => line.startsWith('Status: '));
  const words = wordsOf(text);
  const headings = lines.filter((line) => /^#{2,} /.test(line));
  return [
    ...(lines[0].startsWith(`# ${number}. `) ? [] : [`${path} does not begin with "# ${number}. Title"`]),
    ...(/^Status: (accepted|superseded by ADR \d+)$/.test(status ?? '')
      ? []
      : [`${path} has no line "Status: accepted" or "Status: superseded by ADR N"`]),
    ...(lines.some((line) => /^Date: \d{4}-\d{2}-\d{2}$/.test(line)) ? [] : [`${path} has no line "Date: YYYY-MM-DD"`]),
    ...(headings.join() === HEADINGS.join() ? [] : [`${path} has other headings than ${HEADINGS.join(', ')}, in this order`]),
    ...(words > MOST_WORDS ? [`${path} has ${words} words; ${MOST_WORDS} are the most`] : []),
  ];
}

function wrongMentions(path, text, numbers) {
  const named = [...text.matchAll(/\bADRs? (\d+)|decisions\/(\d{4})\b/g)].map(([found, plain, padded]) => ({
    found,
    number: Number(plain ?? padded),
  }));
  return named.filter(({ number }) => !numbers.has(number)).map(({ found }) => `${path} names ${found}, which does not exist`);
}

function numberOf(path) {
  return Number(basename(path).slice(0, 4));
}

/** As `wc -w` counts them. */
function wordsOf(text) {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

function readRecords() {
  return readAll(globSync(`${FOLDER}/*.md`));
}

function readNaming() {
  const paths = NAMING.flatMap((pattern) => globSync(pattern, { exclude: (name) => BUILT.test(name) }));
  return readAll(paths.filter((path) => !LEFT_OUT.test(path) && !path.startsWith(`${FOLDER}/`)));
}

function readAll(paths) {
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}
