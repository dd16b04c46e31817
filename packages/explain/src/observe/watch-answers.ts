/** Repeats a query, and passes on each result that differs from the previous one in more than ages. */
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { toCommandError } from './cluster-reader.js';
import { untilNext } from './until-next.js';

interface WatchedAnswers<Answer extends object> {
  readonly signal: AbortSignal;
  readonly intervalMs: number;
  readonly ask: () => Promise<Answer>;
  readonly onNews: (answer: Answer) => Promise<void>;
  /** The cluster did not respond, and the query is repeated. Called once for the same failure, until there is a result. */
  readonly onFailure: (message: string) => void;
}

/** @throws the error of the first query, and any refusal. */
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

/** True if the API server failed, and may respond the next time. */
function isPassing(error: unknown): error is CommandError {
  return error instanceof CommandError && error.cause instanceof ApiRequestError && error.exitCode !== ExitCode.noPermission;
}

/** The form of ages in links and findings. */
const AGE = /[\d,]+ (?:second|minute|hour)s? ago/g;

/** Ages increase with time, and so does a count of requests. */
function withoutAges(answer: object): string {
  return JSON.stringify(answer, (key, value: unknown) => {
    if (key === 'requests') return undefined;
    return typeof value === 'string' ? value.replace(AGE, '') : value;
  });
}
