/** Asks again and again, and passes on each answer that differs from the one before in more than ages. */
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { toCommandError } from './cluster-reader.js';
import { untilNext } from './until-next.js';

interface WatchedAnswers<Answer extends object> {
  readonly signal: AbortSignal;
  readonly intervalMs: number;
  readonly ask: () => Promise<Answer>;
  readonly onNews: (answer: Answer) => Promise<void>;
  /** The cluster did not answer: it is asked again. Called once for the same failure, until there is an answer. */
  readonly onFailure: (message: string) => void;
}

/** @throws what the first question failed with, and any refusal. */
export async function watchAnswers<Answer extends object>(settings: WatchedAnswers<Answer>): Promise<void> {
  const { signal, intervalMs, ask, onNews, onFailure } = settings;
  let before: string | undefined;
  let failure: string | undefined;
  while (!signal.aborted) {
    const asked = await askOnce(ask, before === undefined);
    if (signal.aborted) return;
    if (asked.kind === 'failed') {
      if (asked.message !== failure) onFailure(asked.message);
      failure = asked.message;
    } else {
      failure = undefined;
      const text = withoutAges(asked.answer);
      if (text !== before) await onNews(asked.answer);
      before = text;
    }
    await untilNext(signal, intervalMs);
  }
}

type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly message: string };

async function askOnce<Answer>(ask: () => Promise<Answer>, isFirst: boolean): Promise<Asked<Answer>> {
  try {
    return { kind: 'answered', answer: await ask() };
  } catch (thrown) {
    const error = toCommandError(thrown);
    if (isFirst || !isPassing(error)) throw error;
    return { kind: 'failed', message: error.message };
  }
}

/** True: the API server failed, and may answer the next time. */
function isPassing(error: unknown): error is CommandError {
  return error instanceof CommandError && error.cause instanceof ApiRequestError && error.exitCode !== ExitCode.noPermission;
}

/** As links and findings write ages. */
const AGE = /[\d,]+ (?:second|minute|hour)s? ago/g;

/** Ages go on with time, and a count of requests goes up. */
function withoutAges(answer: object): string {
  return JSON.stringify(answer, (key, value: unknown) => {
    if (key === 'requests') return undefined;
    return typeof value === 'string' ? value.replace(AGE, '') : value;
  });
}
