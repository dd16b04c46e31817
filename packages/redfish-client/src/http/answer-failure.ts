import { RedfishError, type RedfishErrorCode } from '../error/redfish-error.js';
import { describeAnswer } from '../resource/describe-answer.js';
import { parseResource } from '../resource/parse-resource.js';
import type { HttpAnswer } from './exchange.js';
import type { Redact } from './redact.js';

const CODES: ReadonlyMap<number, RedfishErrorCode> = new Map<number, RedfishErrorCode>([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [405, 'not-allowed'],
  [410, 'not-found'],
  [412, 'precondition-failed'],
  [428, 'precondition-failed'],
  [429, 'unavailable'],
  [501, 'not-allowed'],
  [503, 'unavailable'],
]);

const MOST_RETRY_AFTER_MS = 86_400_000;

/** The error of an answer with a status of 400 or more. Its message has the status and the text of the service. */
export function answerFailure(answer: HttpAnswer, redact: Redact): RedfishError {
  const { status } = answer;
  const parsed = parseResource(answer.text);
  const text = parsed.ok ? describeAnswer(parsed.resource, redact) : undefined;
  const retryAfter = retryAfterMs(answer);
  const code = CODES.get(status) ?? (status >= 500 ? 'server-failed' : 'refused');
  return new RedfishError(code, text === undefined ? `HTTP ${status}` : `HTTP ${status}: ${text}`, {
    status,
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  });
}

/** The milliseconds of the header Retry-After, at most a day; undefined if it is missing or a date. */
export function retryAfterMs(answer: HttpAnswer): number | undefined {
  const value = answer.header('retry-after')?.trim() ?? '';
  return /^\d{1,9}$/.test(value) ? Math.min(Number(value) * 1_000, MOST_RETRY_AFTER_MS) : undefined;
}
