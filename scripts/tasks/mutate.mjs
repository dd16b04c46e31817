// npm run mutate -- --package NAME [--only PART] [--lines N] [--seed N] [--workers N]: changes one thing at a time in a sample of the
// sources of a package and runs the unit tests that reach it. It shows each change that no test notices, and the share of those that one does.
// Some changes make no difference: whoever reads the list decides.
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const LINES = 1_500;
const REPORTS = '.vmdhcp/mutation';
const USAGE = `usage: npm run mutate -- --package NAME [--only PART] [--lines N] [--seed N] [--workers N]

  --package NAME  a folder of packages/
  --only PART     only files whose path contains PART
  --lines N       a sample of whole files with N lines in all (default ${LINES})
  --seed N        which files are in the sample (default 1)
  --workers N     processes that run tests at once (default 1)

examples:
  npm run mutate -- --package dhcp-allocator
  npm run mutate -- --package reconciler --lines 5000 --seed 7
`;

const options = parse();
const name = options.package;
const files = sample(sources(name));
if (files.length === 0) fail(`no source file of packages/${name} matches`);
process.stderr.write(`${files.length} files of packages/${name}\n`);
const report = mutate(files);
summarise(report);

function parse() {
  try {
    const text = { type: 'string' };
    const { values } = parseArgs({ options: { package: text, only: text, lines: text, seed: text, workers: text } });
    const numbers = ['lines', 'seed', 'workers'].filter((key) => values[key] !== undefined && !/^[1-9]\d*$/.test(values[key]));
    if (values.package === undefined || numbers.length > 0) fail(USAGE);
    return values;
  } catch (error) {
    return fail(`${error.message}\n\n${USAGE}`);
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(64);
}

/** Files with code: lists of exports and what only tests use have nothing to notice. */
function sources(folder) {
  return globSync(`packages/${folder}/src/**/*.ts`)
    .filter((path) => !/(\.test|-fixtures)\.ts$|\/index\.ts$|\/testing\//.test(path))
    .filter((path) => path.includes(options.only ?? ''))
    .toSorted();
}

/** Whole files in an order that the seed decides, until there are enough lines. */
function sample(paths) {
  const random = randomFrom(Number(options.seed ?? 1));
  const chosen = [];
  let left = Number(options.lines ?? LINES);
  for (const { path } of paths.map((path) => ({ path, order: random() })).toSorted((one, other) => one.order - other.order)) {
    if (left <= 0) break;
    chosen.push(path);
    left -= readFileSync(path, 'utf8').split('\n').length;
  }
  return chosen;
}

/** 0 up to, not including, 1; the same numbers for the same seed (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

function mutate(paths) {
  mkdirSync(REPORTS, { recursive: true });
  const folder = mkdtempSync(join(REPORTS, `${name}-`));
  const settings = join(folder, 'stryker.json');
  const reportFile = join(folder, 'report.json');
  writeFileSync(
    settings,
    JSON.stringify({
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: 'vitest.mutate.config.ts', related: true },
      mutate: paths,
      // Texts are compared with the generated reference pages; they decide nothing.
      mutator: { excludedMutations: ['StringLiteral'] },
      ignoreStatic: true,
      coverageAnalysis: 'perTest',
      concurrency: Number(options.workers ?? 1),
      reporters: ['json', 'progress-append-only'],
      jsonReporter: { fileName: reportFile },
      tempDirName: join(folder, 'sandbox'),
      ignorePatterns: ['.vmdhcp', '**/fixtures/recordings'],
      allowEmpty: true,
    }),
  );
  const environment = { ...process.env, VMDHCP_MUTATED_PACKAGE: name };
  const { status } = spawnSync('stryker', ['run', settings], { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
  const read = JSON.parse(readFileSync(reportFile, 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  return read;
}

function summarise({ files: results }) {
  const counts = { noticed: 0, missed: 0 };
  for (const [path, { source, mutants }] of Object.entries(results)) {
    const lines = source.split('\n');
    for (const mutant of mutants) {
      const kind = outcome(mutant);
      if (kind === undefined) continue;
      counts[kind]++;
      if (kind === 'missed') show(path, lines, mutant);
    }
  }
  const judged = counts.noticed + counts.missed;
  const rate = judged === 0 ? 100 : (100 * counts.noticed) / judged;
  process.stdout.write(
    `${name}, ${options.lines ?? LINES} lines with seed ${options.seed ?? 1}: ${counts.noticed} of ${judged} changes noticed, ${rate.toFixed(1)} %\n`,
  );
}

function outcome({ status }) {
  switch (status) {
    case 'Killed':
    case 'Timeout':
    case 'RuntimeError':
      return 'noticed';
    case 'Survived':
    case 'NoCoverage':
      return 'missed';
    default:
      return undefined;
  }
}

function show(path, lines, { location: { start, end }, mutatorName, replacement, status }) {
  const line = lines[start.line - 1];
  const before = start.line === end.line ? line.slice(start.column - 1, end.column - 1) : `${line.slice(start.column - 1)} ...`;
  const why = status === 'NoCoverage' ? 'no test reaches it' : 'no test fails';
  process.stdout.write(
    `${path}:${start.line}:${start.column} ${mutatorName}, ${why}\n  ${line.trim()}\n  ${before} -> ${replacement}\n`,
  );
}
