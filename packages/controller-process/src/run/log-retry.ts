import { CONFLICT, NotLeadingError } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';

export interface RetryLogger {
  readonly debug: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
}

export interface Retry {
  readonly reason: string;
  readonly error?: unknown;
}

/**
 * Logs why an object is reconciled again. A concurrent change is normal when the controller and others write the same object, and
 * is logged as such; that this process is not leader is logged elsewhere.
 */
export function logRetry(
  logger: RetryLogger,
  what: { readonly kind: string; readonly key: string },
  { reason, error }: Retry,
): void {
  if (error instanceof NotLeadingError) return;
  if (reason === CONFLICT) logger.debug(what, 'the object was changed meanwhile; reconciling again');
  else logger.warn({ ...what, reason, ...(error !== undefined && { err: errorForLog(error) }) }, 'reconcile failed; retrying');
}
