// An exported name has one meaning: fails where two sources of the packages define the same one. First it tries itself: a check that finds nothing
// would pass for ever.
import { globSync, readFileSync } from 'node:fs';
import { isNamed, judgeNames } from './names.mjs';

const COMMAND = 'each command line has its own';
const NO_IMPORT = 'the same function: ippool-api may import zod alone, and kube-runtime stands alone';
/** By name: why it is defined twice. */
const ALLOWED = {
  main: COMMAND,
  program: COMMAND,
  captureCommand: COMMAND,
  checkCommand: COMMAND,
  exportCommand: COMMAND,
  leasesCommand: COMMAND,
  releaseCommand: COMMAND,
  cutText: NO_IMPORT,
  octetsOf: NO_IMPORT,
  quote: NO_IMPORT,
};

/** `[sources, allowed, findings]`: sources by path, and what each finding begins with. */
const TRIALS = [
  [{ 'a.ts': 'export class Lease {}', 'b.ts': 'export interface Lease {}' }, {}, ['Lease is defined in a.ts and b.ts']],
  [{ 'a.ts': 'export const [one, { two }] = x', 'b.ts': 'function two() {}\nexport { two }' }, {}, ['two is defined in']],
  [{ 'a.ts': 'const a = 1; export { a as b }', 'b.ts': 'export enum b {}' }, {}, ['b is defined in']],
  [{ 'a.ts': 'export type Lease = 1', 'b.ts': 'export type Lease = 2' }, { Lease: 'a reason' }, []],
  [{ 'a.ts': 'export type Lease = 1', 'b.ts': 'type Lease = 2' }, { Lease: 'a reason' }, ['Lease is not defined twice any more']],
  [{ 'a.ts': 'export const toString = 1', 'b.ts': 'export const toString = 2' }, {}, ['toString is defined in']],
  [{ 'a.ts': 'export type Lease = 1', 'b.ts': "export { Lease } from './a.js'; export * from './a.js'" }, {}, []],
  [{ 'a.ts': 'export function f(a: 1): 1;\nexport function f(a: 2): 2;\nexport function f(a: any) { return a; }' }, {}, []],
];

const sources = globSync('packages/*/src/**/*.ts').filter(isNamed).toSorted();
const { names, twice, findings } = judgeNames(
  sources.map((path) => [path, readFileSync(path, 'utf8')]),
  ALLOWED,
);
const problems = [
  ...TRIALS.flatMap(tryRule),
  ...findings,
  ...(names < sources.length ? ['hardly any name was read: the pattern of the sources or the parser is wrong'] : []),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${names} exported names, ${twice} with two definitions\n`);
process.exit(problems.length === 0 ? 0 : 1);

/** A trial has the findings that it should have and no other. */
function tryRule([files, allowed, wanted]) {
  const { findings: found } = judgeNames(Object.entries(files), allowed);
  const isRight = found.length === wanted.length && wanted.every((text, index) => found[index].startsWith(text));
  return isRight
    ? []
    : [`the check finds ${JSON.stringify(found)} and not ${JSON.stringify(wanted)} in ${JSON.stringify(files)}`];
}
