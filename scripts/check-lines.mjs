// How large a package, a file and a function may be. A budget is raised only together with a decision (docs/decisions) that says why; it is lowered
// when a package has become smaller. Command lines have no class and only short files: what they do is in libraries.
import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/** Lines of the sources of a package, without tests and their fixtures; a description of one line costs nothing. */
const BUDGETS = {
  'packages/admission': 1_971,
  'packages/agent-cli': 2_234,
  'packages/agent-process': 2_448,
  'packages/bare-host-agent': 2_132,
  'packages/bare-metal': 8_246,
  'packages/controller-cli': 1_530,
  'packages/controller-process': 4_656,
  'packages/dhcp-agent': 7_807,
  'packages/dhcp-allocator': 8_253,
  'packages/explain': 4_029,
  'packages/ippool-api': 4_365,
  'packages/kube-runtime': 5_750,
  'packages/kubectl-vmdhcp': 2_966,
  'packages/lease-stores': 2_430,
  'packages/linux-sockets': 2_760,
  'packages/reconciler': 15_000,
  'packages/redfish-client': 2_140,
  'packages/service-certificates': 656,
  'packages/service-process': 779,
  'packages/status-page': 7_067,
  'packages/wake-on-lan': 6_424,
};
const COMMAND_LINES = ['packages/agent-cli', 'packages/controller-cli', 'packages/kubectl-vmdhcp'];
const MOST_LINES_OF_A_FILE = 400;
const MOST_LINES_OF_A_FUNCTION = 60;
const MOST_LINES_OF_A_COMMAND = 150;
const DESCRIPTION = /^\s*\/\*\*.*\*\/$/;
/** Tables, and what is longer for a reason. */
const LONGER_FILES = {
  'packages/ippool-api/src/reasons.ts': 'a table',
  'packages/status-page/src/model/page-data.ts': 'types alone, and each further module is loaded by the browser',
};

const problems = [...tryRules(), ...judge(readSources())];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

function readSources() {
  const paths = globSync('packages/*/src/**/*.ts').filter((path) => !/\.test\.ts$|-fixtures\.ts$/.test(path));
  return paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** One sentence for each limit that is exceeded. */
function judge(sources, budgets = BUDGETS) {
  const lines = new Map();
  for (const { path, text } of sources) lines.set(packageOf(path), (lines.get(packageOf(path)) ?? 0) + linesOf(text));
  const packages = [...lines].flatMap(([name, count]) => {
    if (budgets[name] === undefined) return [`${name} has no budget: give it one in scripts/check-lines.mjs`];
    return count > budgets[name]
      ? [`${name} has ${count} lines, its budget is ${budgets[name]}: make it smaller, or decide why not`]
      : [];
  });
  return [...packages, ...sources.flatMap(judgeFile)];
}

function judgeFile({ path, text }) {
  const count = linesOf(text);
  const isCommand = COMMAND_LINES.includes(packageOf(path));
  const most = isCommand ? MOST_LINES_OF_A_COMMAND : MOST_LINES_OF_A_FILE;
  const { program } = parseSync(path, text);
  const found = [];
  if (count > most && LONGER_FILES[path] === undefined) found.push(`${path} has ${count} lines; ${most} are the most`);
  for (const node of nodesOf(program)) {
    const length = linesOf(text.slice(node.start, node.end)) + 1;
    if (/Function/.test(node.type) && node.body && length > MOST_LINES_OF_A_FUNCTION)
      found.push(`${path}: a function of ${length} lines; ${MOST_LINES_OF_A_FUNCTION} are the most`);
    if (isCommand && /^Class/.test(node.type) && node.body?.type === 'ClassBody')
      found.push(`${path}: a class in a command line; move it into a library`);
  }
  return found;
}

function* nodesOf(value) {
  if (value === null || typeof value !== 'object') return;
  if (typeof value.type === 'string') yield value;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

function linesOf(text) {
  return text.split('\n').filter((line) => !DESCRIPTION.test(line)).length - 1;
}

function packageOf(path) {
  return path.split('/').slice(0, 2).join('/');
}

/** A check that finds nothing would pass for ever. */
function tryRules() {
  const long = (count) => 'const a = 1;\n'.repeat(count);
  const planted = {
    'a package over its budget': { path: 'packages/a/src/a.ts', text: long(11) },
    'a package without a budget': { path: 'packages/b/src/a.ts', text: '' },
    'a long file': { path: 'packages/large/src/a.ts', text: long(401) },
    'a long function': { path: 'packages/large/src/a.ts', text: `export const f = () => {\n${long(60)}};\n` },
    'a class in a command line': { path: 'packages/agent-cli/src/a.ts', text: 'export class A {}\n' },
    'a long command': { path: 'packages/agent-cli/src/a.ts', text: long(151) },
  };
  const budgets = { 'packages/a': 10, 'packages/large': 1_000, 'packages/agent-cli': 1_000 };
  const fine = [{ path: 'packages/large/src/a.ts', text: `export class A {\n  f() {\n${long(50)}  }\n}\n` }];
  return [
    ...Object.entries(planted)
      .filter(([, source]) => judge([source], budgets).length !== 1)
      .map(([what]) => `the check does not find ${what}, or more than that`),
    ...judge(fine, budgets).map((problem) => `the check finds what is fine: ${problem}`),
  ];
}
