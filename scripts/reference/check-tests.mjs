// Each flag, environment variable and metric of the programs stands in a test. That the test tries its effect is for a reader to see: this finds only those that no test names.
import { globSync, readFileSync } from 'node:fs';
import { metrics, programs } from './facts.mjs';

const BUILT = /(^|\/)(node_modules|dist)(\/|$)/;
/** A histogram is read by these series, a line of a page has one of them. */
const SERIES = ['', '_bucket', '_sum', '_count'];
/** Not tried by a test, with the reason. */
const UNTRIED = {
  NODE_OPTIONS: 'Node reads it before the program begins; the program only looks whether it is set',
};

/** One sentence for each name that stands in no test, and for each exception that is none any more. @param text - of all tests. */
export function findUntested(text = textOfTests()) {
  const words = new Set(text.match(/(?:--?)?[A-Za-z_][\w-]*/g));
  const names = [
    ...programs.flatMap(({ name, commands, environment }) => [
      ...commands.flatMap((command) => command.options.flatMap((option) => flagOf(`${name} ${command.name}`, option))),
      ...Object.keys(environment).map((variable) => ({ what: `variable ${variable} of ${name}`, any: [variable] })),
    ]),
    ...metrics.flatMap(({ program, metrics: own }) =>
      own.map(({ name }) => ({ what: `metric ${name} of ${program}`, any: SERIES.map((end) => name + end) })),
    ),
  ];
  const isTested = ({ any }) => any.some((name) => words.has(name));
  return [
    ...names
      .filter((one) => !isTested(one) && !one.any.some((name) => Object.hasOwn(UNTRIED, name)))
      .map(({ what }) => `${what} stands in no test: write one that tries its effect`),
    ...Object.keys(UNTRIED)
      .filter((name) => words.has(name))
      .map((name) => `${name} is listed as untried in scripts/reference/check-tests.mjs, and stands in a test: remove it there`),
  ];
}

/** The flag by either of its names, and its variable. */
function flagOf(command, { flags, variable }) {
  const names = flags.match(/(?<![\w-])--?[a-zA-Z][a-z0-9-]*/g) ?? [];
  return [
    { what: `${command} ${names.at(-1)}`, any: names },
    ...(variable === undefined ? [] : [{ what: `variable ${variable} of ${command}`, any: [variable] }]),
  ];
}

function textOfTests() {
  const paths = globSync('{packages,tools}/**/*.test.ts', { exclude: (name) => BUILT.test(name) });
  return paths.map((path) => readFileSync(path, 'utf8')).join('\n');
}
