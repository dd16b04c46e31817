import { type Clock, CONFLICT, NotLeadingError } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import { LimitedLines } from './limited-lines.js';

export interface RetryLogger {
  readonly debug: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
}

export interface Retry {
  readonly reason: string;
  readonly error?: unknown;
}

const OMITTED = 'too many retries: log lines omitted';

/** What is reconciled again. */
interface Reconciled {
  readonly kind: string;
  readonly key: string;
}

/**
 * Returns `logRetry` with a limit: while the API server fails, ten thousand objects are reconciled again and again. Each kind has a limit of its own, so that
 * many lines of one do not hide those of another one. A reason may name the object, so there would be as many limits as objects.
 */
export function createRetryLog(ports: {
  readonly logger: RetryLogger;
  readonly clock: Clock;
}): (what: Reconciled, retry: Retry) => void {
  const { logger, clock } = ports;
  const limits = new Map<string, LimitedLines<string>>();
  const limitOf = (kind: string) => {
    const limit = limits.get(kind) ?? new LimitedLines<string>(clock, (leftOut) => logger.warn({ leftOut }, OMITTED));
    limits.set(kind, limit);
    return limit;
  };
  return (what, retry) => {
    if (retry.reason === CONFLICT || retry.error instanceof NotLeadingError) logRetry(logger, what, retry);
    else limitOf(what.kind).write(what.kind, () => logRetry(logger, what, retry));
  };
}

/**
 * Logs why an object is reconciled again. A concurrent change is normal when the controller and others write the same object, and
 * is logged as such; that this process is not leader is logged elsewhere.
 */
export function logRetry(logger: RetryLogger, what: Reconciled, { reason, error }: Retry): void {
  if (error instanceof NotLeadingError) return;
  if (reason === CONFLICT) logger.debug(what, 'the object was changed meanwhile; reconciling again');
  else logger.warn({ ...what, reason, ...(error !== undefined && { err: errorForLog(error) }) }, 'reconcile failed; retrying');
}
