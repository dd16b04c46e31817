import {
  type AcceptedDifference,
  isAccepted,
  type JudgedDifference,
  judge,
  readAcceptedDifferences,
  staleEntries,
} from './accepted-differences.js';
import type { RecordingTarget } from './recording-target.js';
import { replayTranscript } from './replay-transcript.js';
import { startSimulatorTarget } from './simulator-target.js';
import { type RecordedRequest, readTranscripts, scenarioNumber, type Transcript } from './transcript.js';
import { startTranscriptServer } from './transcript-server.js';

/** The recordings in the repository. */
export const FIXTURES = new URL('../../fixtures/kube-1.36/', import.meta.url);
const ACCEPTED = new URL('../../accepted-differences.json', import.meta.url);

/** Transcripts of one server, and which differences from them are accepted. */
export interface Recordings {
  /** In the order of their numbers. */
  readonly transcripts: readonly Transcript[];
  readonly accepted: readonly AcceptedDifference[];
}

/** The result of the replay of one transcript. */
export interface ReplayResult {
  readonly scenario: string;
  readonly steps: number;
  /** In the order of the steps. */
  readonly differences: readonly JudgedDifference[];
  /** Accepted differences that do not occur any more. */
  readonly stale: readonly AcceptedDifference[];
}

/** Every transcript of a folder, with the accepted differences of this package. Throws if the folder has no transcript. */
export function readRecordings(folder: string | URL): Recordings {
  const transcripts = readTranscripts(folder);
  if (transcripts.length === 0) throw new Error(`${folder} has no transcripts; they are called 01-name.json, 02-name.json, ...`);
  return { transcripts, accepted: readAcceptedDifferences(ACCEPTED) };
}

/** Replays one of the transcripts against a fresh simulator. */
export async function replayScenario(transcript: Transcript, recordings: Recordings): Promise<ReplayResult> {
  return replay(transcript, { ...recordings, target: await startSimulatorTarget(), prepare: true });
}

/** Replays a transcript against a server that answers as recorded: the comparison must find nothing. */
export async function replayItself(transcript: Transcript): Promise<ReplayResult> {
  return replay(transcript, { transcripts: [], accepted: [], target: await startTranscriptServer(transcript), prepare: false });
}

interface Replay extends Recordings {
  readonly target: RecordingTarget;
  readonly prepare: boolean;
}

async function replay(transcript: Transcript, { transcripts, accepted, target, prepare }: Replay): Promise<ReplayResult> {
  try {
    const definitions = definitionsOf(transcripts);
    const found = await replayTranscript(transcript, target, {
      definitions,
      prepare,
      isAccepted: (difference) => isAccepted(accepted, difference),
    });
    return {
      scenario: transcript.scenario,
      steps: transcript.steps.length,
      differences: judge(found, accepted),
      stale: staleEntries(found, accepted, new Set([scenarioNumber(transcript)])),
    };
  } finally {
    await target.stop();
  }
}

/** The requests of the second scenario that create the CustomResourceDefinitions all others use. */
function definitionsOf(transcripts: readonly Transcript[]): RecordedRequest[] {
  const steps = transcripts.find((transcript) => scenarioNumber(transcript) === '02')?.steps ?? [];
  return steps.slice(0, 12).flatMap(({ request }) => (request?.method === 'POST' ? [request] : []));
}
