// Replays transcripts of a real API server against the simulator: `npm run test:recordings -- DIR`.
import { parseArgs } from 'node:util';
import {
  type AcceptedDifference,
  type JudgedDifference,
  judge,
  readAcceptedDifferences,
  staleEntries,
} from './accepted-differences.js';
import type { RecordingTarget } from './recording-target.js';
import { type FoundDifference, replayTranscript } from './replay-transcript.js';
import { startSimulatorTarget } from './simulator-target.js';
import { type RecordedRequest, readTranscripts, scenarioNumber, type Transcript } from './transcript.js';
import { startTranscriptServer } from './transcript-server.js';

const HELP = `Usage: npm run test:recordings -- DIR [options]

Replays the transcripts in DIR, each against a fresh simulator, and prints every difference.
Exit code 1 when one of them is not among the accepted ones, or an accepted one is none any more.

  --only 11,12   these scenarios only
  --verbose      accepted differences too, each with what was expected
  --json         all differences as JSON
  --itself       replay against the transcripts themselves: shows that the comparison finds nothing where nothing is

Examples:
  npm run test:recordings -- ~/recordings/kube-1.36
  npm run test:recordings -- ~/recordings/kube-1.36 --only 06,11 --verbose
`;

const ACCEPTED = new URL('../../accepted-differences.json', import.meta.url);
/** Most of a replay is waiting for watches to end. */
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
const [directory] = positionals;
if (values.help || directory === undefined) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 64);
}
process.exit(await replayAll(directory));

async function replayAll(from: string): Promise<number> {
  const transcripts = readTranscripts(from);
  const only = values.only?.split(',');
  const chosen = transcripts.filter((transcript) => only === undefined || only.includes(scenarioNumber(transcript)));
  const accepted = values.itself ? [] : readAcceptedDifferences(ACCEPTED);
  const definitions = definitionsOf(transcripts);
  const found: FoundDifference[] = [];
  const waiting = [...chosen];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      found.push(...(await replayOne(next, definitions)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const judged = judge(found, accepted).sort((one, other) => one.scenario.localeCompare(other.scenario) || one.step - other.step);
  return print(judged, staleEntries(found, accepted, new Set(chosen.map(scenarioNumber))), chosen);
}

async function replayOne(transcript: Transcript, definitions: readonly RecordedRequest[]): Promise<FoundDifference[]> {
  const target: RecordingTarget = values.itself ? await startTranscriptServer(transcript) : await startSimulatorTarget();
  try {
    return await replayTranscript(transcript, target, { definitions, prepare: !values.itself });
  } finally {
    await target.stop();
  }
}

/** The requests of the second scenario that create the CustomResourceDefinitions all others use. */
function definitionsOf(transcripts: readonly Transcript[]): RecordedRequest[] {
  const steps = transcripts.find((transcript) => scenarioNumber(transcript) === '02')?.steps ?? [];
  return steps.slice(0, 12).flatMap(({ request }) => (request?.method === 'POST' ? [request] : []));
}

function print(
  differences: readonly JudgedDifference[],
  stale: readonly AcceptedDifference[],
  chosen: readonly Transcript[],
): number {
  const unexpected = differences.filter(({ reason }) => reason === undefined);
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ differences, stale }, null, 2)}\n`);
    return unexpected.length + stale.length === 0 ? 0 : 1;
  }
  for (const difference of values.verbose ? differences : unexpected) process.stdout.write(`${toLine(difference)}\n`);
  for (const entry of stale)
    process.stdout.write(
      `UNEXPECTED ${entry.scenario} step ${entry.step}: no difference any more: ${entry.where ?? 'the step'}\n`,
    );
  const steps = chosen.reduce((sum, transcript) => sum + transcript.steps.length, 0);
  process.stdout.write(
    `${chosen.length} scenarios, ${steps} steps: ${differences.length - unexpected.length} accepted differences, ` +
      `${unexpected.length + stale.length} unexpected\n`,
  );
  return unexpected.length + stale.length === 0 ? 0 : 1;
}

function toLine({ scenario, step, about, where, expected, got, reason }: JudgedDifference): string {
  const verdict = reason === undefined ? 'UNEXPECTED' : `accepted: ${reason}`;
  const length = values.verbose ? 2000 : 300;
  return `${scenario} step ${step} (${about}) ${where}\n    expected ${cut(expected, length)}\n    got      ${cut(got, length)}\n    ${verdict}`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)} ... (${text.length} characters)`;
}
