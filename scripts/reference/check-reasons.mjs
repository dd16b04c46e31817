// Each reason of the tables is written by a source and looked for by a test.
import { globSync, readFileSync } from 'node:fs';
import { packetReasons, REASONS } from './facts.mjs';

const TABLES = /(^|\/)(((agent-)?packet|host)-)?reasons(\.test)?\.ts$/;
const isGenerated = (name) => /(^|\/)(node_modules|dist)(\/|$)/.test(name);

/** One sentence for each reason that nothing writes, or that no test looks for. */
export function findWrongReasons() {
  const paths = globSync('{packages,tools}/**/*.ts', { exclude: isGenerated }).filter((path) => !TABLES.test(path));
  const tests = textOf([...paths.filter(isTest), 'packages/dhcp-allocator/src/wire/fixtures/odd-packets.json']);
  const sources = textOf(paths.filter((path) => path.startsWith('packages/') && !isTest(path) && !path.endsWith('-fixtures.ts')));
  const named = [...Object.keys(REASONS).map((reason) => [reason, wordOf(reason)]), ...packetReasons.map(([reason]) => [reason])];
  return named.flatMap((words) => [
    ...(hasAny(sources, words) ? [] : [`reason ${words[0]} is in the table, and no source writes it`]),
    ...(hasAny(tests, words) ? [] : [`reason ${words[0]} is in the table, and no test looks for it`]),
  ]);
}

function isTest(path) {
  return path.endsWith('.test.ts');
}

function textOf(paths) {
  return paths.map((path) => readFileSync(path, 'utf8')).join('\n');
}

function hasAny(text, words) {
  return words.some((word) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text));
}

/** `pool-exhausted` of `PoolExhausted`, as plans have it. */
function wordOf(reason) {
  return reason.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}
