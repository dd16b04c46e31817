// npm test [-- PART [NAME...]]: checks, then tests, then what was skipped and what failed by name, then one line that sums up: `N passed, N failed, N skipped`.
// Tests with the tag `nightly` run in `npm test -- nightly`, and where their file is named.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { findNamespaces, startInNamespaces } from '../in-namespaces.mjs';
import { runLabTests } from '../run-lab-tests.mjs';

const PARTS = {
  checks: runChecks,
  unit: runUnitTests,
  cluster: runClusterTests,
  world: runWorld,
  lab: () => runInside('tests with real interfaces', {}, runLab),
  images: () => runInside('tests of the images', { asRoot: true }, runImages),
  changed: runChanged,
  nightly: runAllParts,
};
/** Each row runs its parts one after the other, beside the other rows: tests of clusters and the lab wait for timers most of the time. */
const ROWS = [['lab'], ['checks', 'unit', 'cluster', 'images'], ['world']];
/** The projects of vitest that are published by nothing. */
const TOOLS = ['kube-simulator', 'chart-renderer', 'alerts', 'dashboards', 'images', 'demo'];
/** A program that a check needs is not installed (EX_UNAVAILABLE). */
const MISSING = 69;
const MOST_LINES_OF_A_CAUSE = 6;
const strict = process.env.VMDHCP_REQUIRE_REAL_PARTS === '1';
const totals = { passed: 0, failed: 0, leftForTheNight: 0 };
const skipped = [];
/** What failed, by name: the end of a long output is what people see of it. */
const failures = [];

/** One part, and parts of names of test files: `npm test -- lab failover`. */
const [only, ...filters] = process.argv.slice(2);
/** Tests with the tag `nightly` run too. */
const isNight = only === 'nightly' || filters.length > 0;
if (only !== undefined && PARTS[only] === undefined) {
  process.stderr.write(`there is no part '${only}'; there are ${Object.keys(PARTS).join(', ')}, seeds, recordings\n`);
  process.exit(64);
}
keepCompiledCode();
await (only === undefined ? runAllParts() : PARTS[only]());
for (const line of skipped) process.stdout.write(`skipped: ${line}\n`);
for (const line of failures) process.stdout.write(`failed: ${line}\n`);
if (totals.leftForTheNight > 0) process.stdout.write(`${totals.leftForTheNight} more tests: npm test -- nightly\n`);
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed, ${skipped.length} skipped\n`);
process.exitCode = totals.failed === 0 && totals.passed + skipped.length > 0 ? 0 : 1;

async function runAllParts() {
  await Promise.all(ROWS.map(runRow));
}

async function runRow(names) {
  for (const name of names) await PARTS[name]();
}

/** Tests start thousands of programs: compiled once, each start takes an eighth less of the processor. */
function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE !== undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-compiled-'));
  process.env.NODE_COMPILE_CACHE = folder;
  process.on('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Programs that sudo started wrote into it too; it is in the folder of temporary files.
    }
  });
}

/** A check counts as one test. */
async function runChecks() {
  await check('format and lint (biome)', 'biome', ['check', '--error-on-warnings', '.']);
  await check('promises, circles of imports, complexity (oxlint)', 'oxlint', ['--type-aware', '--deny-warnings']);
  await check('import walls (scripts/walls.mjs)', process.execPath, ['scripts/check-import-walls.mjs']);
  await check('types', 'npm', ['run', 'typecheck', '--silent']);
  await check('docs name tests and pages that are there', process.execPath, ['scripts/check-docs.mjs']);
  await check('alerts fire when they should, and name metrics that exist (promtool)', process.execPath, [
    'scripts/check-alerts.mjs',
  ]);
  await check('no retired words (docs/glossary.md)', process.execPath, ['scripts/check-words.mjs']);
  await check('one name, one meaning', process.execPath, ['scripts/check-names.mjs']);
  await check('one address of the repository', process.execPath, ['scripts/check-repository.mjs']);
  await check('another address and another version can be released', process.execPath, ['scripts/try-release.mjs']);
  await check('workflows of GitHub are valid and keep our rules', process.execPath, ['scripts/check-workflows.mjs']);
  await check('packages, files and functions within their size', process.execPath, ['scripts/check-lines.mjs']);
  await check('nothing unused (knip)', 'knip', ['--no-progress']);
  await check('packed packages work alone, README examples run', process.execPath, ['scripts/check-packed-packages.mjs']);
}

/** What a contributor waits for after each change: the quick checks, and the unit tests that load a file which differs from a commit (default: HEAD). */
async function runChanged() {
  const [since = 'HEAD'] = filters.splice(0);
  const differing = await run('git', ['diff', '--name-only', '--diff-filter=d', '--relative', since]);
  if (differing.status !== 0) {
    fail('changed files', differing.stderr.trim());
    return;
  }
  const added = await run('git', ['ls-files', '--others', '--exclude-standard']);
  const files = `${differing.stdout}${added.stdout}`.split('\n').filter((file) => file !== '');
  process.stdout.write(`${files.length} changed files\n`);
  await Promise.all([
    check('format and lint (biome)', 'biome', ['check', '--error-on-warnings', '--no-errors-on-unmatched', ...files]),
    check('import walls (scripts/walls.mjs)', process.execPath, ['scripts/check-import-walls.mjs']),
    runVitest('unit tests of what changed', ['--changed', since]),
  ]);
}

async function check(title, command, parameters) {
  const { status, stdout, stderr } = await run(command, parameters);
  if (status === MISSING && !strict) {
    skipped.push(`${title}: ${stdout.trim()}`);
    return;
  }
  const passed = status === 0;
  totals[passed ? 'passed' : 'failed']++;
  if (!passed) failures.push(title);
  process.stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${title}\n${passed ? '' : `${stdout}${stderr}`}`);
}

async function runLab(way) {
  await runLabTests(way, { filters, isNight }, (files) =>
    prepareVitest(['--config', 'vitest.lab.config.ts', ...tagsFilter(), ...files]),
  );
}

/** The images are built outside of the namespaces, where no registry can be reached. */
async function runImages(way) {
  const layouts = mkdtempSync(join(tmpdir(), 'vmdhcp-images-'));
  try {
    const parameters = ['scripts/tasks/images.mjs', 'build', '--archive', '--output', layouts, '--json'];
    const { status, stdout, stderr } = await run(process.execPath, parameters);
    if (status !== 0) {
      reportNoImages(status, stderr.trim());
      return;
    }
    writeFileSync(join(layouts, 'built.json'), stdout);
    const { parameters: words, ended } = prepareVitest(['--config', 'vitest.images.config.ts', ...filters]);
    const env = { VMDHCP_IMAGE_LAYOUTS: layouts };
    ended(await statusOf(startInNamespaces(way, 'vitest', words, { env })));
  } finally {
    rmSync(layouts, { recursive: true });
  }
}

/** A part that cannot be fetched, or a program that is missing (69): the machine lacks something. */
function reportNoImages(status, why) {
  if (status === 69 && !strict) {
    skipped.push(`tests of the images: ${why.split('\n')[0]}`);
    return;
  }
  fail('tests of the images: they cannot be built', why);
}

/** Plays about a minute of fresh stories of the simulated world, and tries the auditor at the same time: each planted fault counts as one test. */
async function runWorld() {
  const program = 'tools/world/dist/main.js';
  const [stories, corpus, parts, ...faults] = await Promise.all([
    output(program, '--seeds', isNight ? '100' : '10'),
    output(program, '--corpus'),
    output('scripts/tasks/test-seeds.mjs', isNight ? '7000' : '140', String(Date.now() % 1_000_000)),
    // They go on when everything else is done: then both processors are free.
    output(program, '--faults', '1/2'),
    output(program, '--faults', '2/2'),
  ]);
  // Beside itself, a version plays the same story as alone.
  const told = await Promise.all([[], ['--beside', '.']].map((more) => output(program, '--seed', '7', '--trace', ...more)));
  const besides = / +\d+ {2}programs of the other version\n/;
  const [one, other] = told.map(({ text }) => text.replaceAll(/ in \d+ s/g, '').replace(besides, ''));
  if (one === other && besides.test(told[1].text)) totals.passed++;
  else fail('stories of the simulated world', 'the same seed told two stories: npm run world -- --seed 7 --trace');
  const tried = faults.map(({ text }) => text).join('');
  process.stdout.write(
    `\nthe simulated world: planted faults that its auditor has to find, and fresh stories\n${tried}${stories.text}`,
  );
  const found = tried.match(/ story \d+: broken: /g)?.length ?? 0;
  totals.passed += found;
  if (faults.some(({ status }) => status !== 0))
    fail('planted faults', 'the auditor does not find all of them: npm run world -- --faults');
  for (const [title, played] of [
    ['stories of the simulated world', stories],
    ['stories that once broke a law', corpus],
    ['stories of the controller, agents, topologies and wake-ups alone', parts],
  ])
    if (played.status === 0) totals.passed++;
    else fail(title, played.text);
}

/** What a program of the simulated world prints. */
async function output(program, ...parameters) {
  // Its time is simulated. That of the tests beside it is not.
  const { status, stdout, stderr } = await run(process.execPath, [program, ...parameters], constants.priority.PRIORITY_LOW);
  return { status, text: stdout + stderr };
}

/** Runs a program to its end. The status is null if it could not be started, or a signal ended it. */
async function run(command, parameters, priority = constants.priority.PRIORITY_NORMAL) {
  const child = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined && priority !== constants.priority.PRIORITY_NORMAL) setPriority(child.pid, priority);
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), statusOf(child)]);
  return { status, stdout, stderr };
}

async function statusOf(child) {
  return await new Promise((resolve) => {
    child.on('error', () => resolve(null));
    child.on('close', resolve);
  });
}

/** Tests in namespaces; if those are forbidden, one line reports that. */
async function runInside(title, settings, run) {
  const { way, reason } = findNamespaces(settings);
  if (way !== undefined) {
    process.stdout.write(`\n${title}\n`);
    await run(way);
  } else if (strict) {
    fail(title, reason);
  } else {
    skipped.push(`${title}: ${reason}`);
  }
}

/** The tests of the packages run on the lowest version of Node that they promise, if it is installed. */
async function runUnitTests() {
  const lowest = 'tools/lowest-node/node_modules/.bin/node';
  const node = existsSync(lowest) ? lowest : process.execPath;
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  await runVitest(
    `unit tests of the packages, on Node ${version}`,
    TOOLS.map((name) => `--project=!${name}`),
    { node },
  );
  await runVitest(
    'unit tests of the tools',
    TOOLS.map((name) => `--project=${name}`),
  );
}

/** Alone, in the cluster of KUBECONFIG where that is set; together with all other parts nothing but this machine is touched. */
async function runClusterTests() {
  const { KUBECONFIG = '', ...environment } = process.env;
  const isReal = only === 'cluster' && KUBECONFIG !== '';
  const title = isReal ? `tests against the cluster of ${KUBECONFIG}` : 'tests against a simulated API server';
  const env = isReal ? { ...environment, VMDHCP_TEST_KUBECONFIG: KUBECONFIG } : environment;
  await runVitest(title, ['--config', 'vitest.cluster.config.ts', ...(isReal ? [] : tagsFilter())], { env });
}

function tagsFilter() {
  return isNight ? [] : ['--tags-filter=!nightly'];
}

/** @param settings - `node`: the Node that runs the tests; `env`: their environment. */
async function runVitest(title, parameters, { node = process.execPath, env = process.env } = {}) {
  process.stdout.write(`\n${title}\n`);
  const { parameters: words, ended } = prepareVitest(['--passWithNoTests', ...parameters, ...filters]);
  ended(await statusOf(spawn(node, ['node_modules/vitest/vitest.mjs', ...words], { stdio: 'inherit', env })));
}

function fail(title, why) {
  totals.failed++;
  failures.push(title);
  process.stdout.write(`FAILED ${title}: ${why}\n`);
}

/** Parameters of vitest, and what adds its counts to the totals once it has ended. */
function prepareVitest(parameters) {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-test-'));
  const report = join(folder, 'report.json');
  return {
    parameters: ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...parameters],
    ended: (status) => {
      addCounts(report, status);
      rmSync(folder, { recursive: true });
    },
  };
}

/** A run that broke before it could count, or in a file but in none of its tests, is a failure of its own. */
function addCounts(report, status) {
  const found = readReport(report);
  totals.passed += found.passed;
  totals.leftForTheNight += found.leftForTheNight;
  skipped.push(...found.skipped);
  if (found.failed.length === 0 && status !== 0)
    found.failed.push('a run of vitest that ended without a failed test: see its output above');
  totals.failed += found.failed.length;
  failures.push(...found.failed);
}

/** @returns {{ passed: number, leftForTheNight: number, skipped: string[], failed: string[] }} tests by name */
function readReport(report) {
  let read;
  try {
    read = JSON.parse(readFileSync(report, 'utf8'));
  } catch (error) {
    return { passed: 0, leftForTheNight: 0, skipped: [], failed: [`a run of vitest that left no report: ${error.message}`] };
  }
  const tests = read.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, file: relative(process.cwd(), name) })),
  );
  const failed = tests.filter(({ status }) => status === 'failed');
  // A file that cannot be loaded, or whose set-up failed, has no failed test.
  const brokenFiles = read.testResults
    .map(({ name, status, message }) => ({ status, message, file: relative(process.cwd(), name) }))
    .filter(({ status, file }) => status === 'failed' && !failed.some((test) => test.file === file));
  const notRun = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  const isLeft = ({ tags = [] }) => !isNight && tags.includes('nightly');
  return {
    passed: read.numPassedTests,
    leftForTheNight: notRun.filter(isLeft).length,
    skipped: notRun.filter((test) => !isLeft(test)).map(({ fullName }) => fullName),
    failed: [
      ...failed.map(({ file, fullName, failureMessages }) => `${file}: ${fullName}${causeOf(failureMessages.join('\n'))}`),
      ...brokenFiles.map(({ file, message }) => `${file}${causeOf(message)}`),
    ],
  };
}

/** The first lines of what was thrown, indented, for those who see only the end of a long output. */
function causeOf(message) {
  const lines = message.split('\n').filter((line) => line.trim() !== '' && !/^ +at /.test(line));
  return lines
    .slice(0, MOST_LINES_OF_A_CAUSE)
    .map((line) => `\n    ${line.slice(0, 300)}`)
    .join('');
}
