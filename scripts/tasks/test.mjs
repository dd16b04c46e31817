// npm test: checks, then tests, then one line that sums up: `N passed, N failed`. What was skipped is named before it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const totals = { passed: 0, failed: 0, skipped: 0 };
const only = process.argv[2] === '--only' ? process.argv[3] : undefined;

if (only === undefined) {
  check('format and lint (biome)', 'biome', ['check', '--error-on-warnings', '.']);
  check('types', 'turbo', ['run', 'typecheck', '--output-logs=errors-only']);
  check('packages (publint)', 'turbo', ['run', 'lint', '--output-logs=errors-only']);
}
if (only === undefined || only === 'unit') vitest('unit tests', []);

if (totals.skipped > 0) process.stdout.write(`\n${totals.skipped} skipped`);
process.stdout.write(`\n${totals.passed} passed, ${totals.failed} failed\n`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);

/** A check counts as one test. */
function check(title, command, parameters) {
  const { status, stdout, stderr } = spawnSync(command, parameters, { encoding: 'utf8' });
  const passed = status === 0;
  totals[passed ? 'passed' : 'failed']++;
  process.stdout.write(`${passed ? 'ok    ' : 'FAILED'} ${title}\n${passed ? '' : `${stdout}${stderr}`}`);
}

function vitest(title, parameters) {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-test-'));
  const report = join(folder, 'report.json');
  process.stdout.write(`\n${title}\n`);
  const { status } = spawnSync(
    'vitest',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...parameters],
    {
      stdio: 'inherit',
    },
  );
  addCounts(report, status);
  rmSync(folder, { recursive: true });
}

/** A run that broke before it could count is a failure of its own. */
function addCounts(report, status) {
  let failed = 0;
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    totals.passed += counts.numPassedTests;
    totals.skipped += counts.numPendingTests + counts.numTodoTests;
    failed = counts.numFailedTests;
  } catch {
    failed = 1;
  }
  totals.failed += status === 0 ? failed : Math.max(failed, 1);
}
