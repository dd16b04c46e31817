// Replays transcripts of a real API server against the simulator: `npm test -- recordings`.
import { parseArgs } from 'node:util';
import type { AcceptedDifference, JudgedDifference } from './accepted-differences.js';
import { FIXTURES, type ReplayResult, readRecordings, replayItself, replayScenario } from './replay-recordings.js';
import { scenarioNumber } from './transcript.js';

const HELP = `Usage: npm test -- recordings [DIR] [options]

Replays the transcripts in DIR, each against a fresh simulator, and prints every difference; without DIR those of the repository.
Exit code 1 when a difference is not in accepted-differences.json, or one that is in it does not occur any more.

  --only 11,12   these scenarios only
  --verbose      print accepted differences too, each with what was expected
  --json         all differences as JSON
  --itself       replay against a server that answers as recorded: the comparison must find no difference

Examples:
  npm test -- recordings
  npm test -- recordings --only 06,11 --verbose
  npm test -- recordings ~/recordings/kube-1.37
`;

/** Some scenarios wait, for a webhook that does not answer and for controllers. */
const AT_ONCE = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    itself: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
process.exit(print(await replayAll(positionals[0] ?? FIXTURES)) ? 0 : 1);

async function replayAll(folder: string | URL): Promise<readonly ReplayResult[]> {
  const recordings = readRecordings(folder);
  const only = values.only?.split(',');
  const waiting = recordings.transcripts.filter((one) => only === undefined || only.includes(scenarioNumber(one)));
  const results: ReplayResult[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results.push(values.itself ? await replayItself(next) : await replayScenario(next, recordings));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results.sort((one, other) => one.scenario.localeCompare(other.scenario));
}

/** @returns true when nothing unexpected was found. */
function print(results: readonly ReplayResult[]): boolean {
  const differences = results.flatMap((result) => result.differences);
  const stale = results.flatMap((result) => result.stale);
  const unexpected = differences.filter(({ reason }) => reason === undefined);
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ differences, stale }, null, 2)}\n`);
  } else {
    for (const difference of values.verbose ? differences : unexpected) process.stdout.write(`${toLine(difference)}\n`);
    for (const entry of stale) process.stdout.write(`${toStaleLine(entry)}\n`);
    const steps = results.reduce((sum, result) => sum + result.steps, 0);
    process.stdout.write(
      `${results.length} scenarios, ${steps} steps: ${differences.length - unexpected.length} accepted differences, ` +
        `${unexpected.length + stale.length} unexpected\n`,
    );
  }
  return unexpected.length + stale.length === 0;
}

function toStaleLine({ scenario, step, where = 'the whole step' }: AcceptedDifference): string {
  return `UNEXPECTED ${scenario} step ${step}: this accepted difference does not occur any more, remove it: ${where}`;
}

function toLine({ scenario, step, about, where, expected, got, reason }: JudgedDifference): string {
  const verdict = reason === undefined ? 'UNEXPECTED' : `accepted: ${reason}`;
  const length = values.verbose ? 2000 : 300;
  return `${scenario} step ${step} (${about}) ${where}\n    expected ${cut(expected, length)}\n    got      ${cut(got, length)}\n    ${verdict}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)} ... (${text.length} characters)`;
}
