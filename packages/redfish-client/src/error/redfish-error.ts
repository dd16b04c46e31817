/** The kinds of errors between a client and a management controller. */
export type RedfishErrorCode =
  /** The target is invalid: host, port, credentials or a PEM text. */
  | 'invalid-target'
  /** No connection: refused, no route, no such name. */
  | 'unreachable'
  /** The connection ended before the whole answer arrived. */
  | 'connection-lost'
  /** No TLS: a certificate that is not accepted, on either side, or no TLS at all. */
  | 'tls-failed'
  /** The time of the call is over. */
  | 'timeout'
  /** The caller ended the call. */
  | 'aborted'
  /** The client was closed. */
  | 'closed'
  /** HTTP 401: no credentials, or wrong ones. */
  | 'unauthorized'
  /** HTTP 403. */
  | 'forbidden'
  /** HTTP 404 and 410. */
  | 'not-found'
  /** HTTP 405 and 501. */
  | 'not-allowed'
  /** HTTP 412 and 428: the resource kept changing meanwhile. */
  | 'precondition-failed'
  /** HTTP 429 and 503: `retryAfterMs` says when to try again, if the service states it. */
  | 'unavailable'
  /** Another HTTP status from 400 to 499. */
  | 'refused'
  /** Another HTTP status from 500. */
  | 'server-failed'
  /** A link, or a redirection, leads to another server; or redirections do not end. */
  | 'redirected'
  /** The answer is not valid Redfish: not HTTP, not JSON, or fields of other types. */
  | 'not-redfish'
  /** A limit of the client: octets, values or depth of an answer, requests of a call. */
  | 'too-large'
  /** The simultaneous calls have used up the memory for answers, and this one had the most. */
  | 'memory-used-up'
  /** The service does not offer the requested action; the message names what it offers. */
  | 'unsupported'
  /** The service accepted a change, and nothing can be learned about its end: it may have been made. */
  | 'outcome-unknown'
  /** The service accepted an action, and its task failed. */
  | 'task-failed';

/** The HTTP status of an answer, and when another try makes sense. */
export interface RedfishErrorDetails {
  /** HTTP status. */
  readonly status?: number;
  /** Milliseconds, 0 or more, after which the service asks to try again. */
  readonly retryAfterMs?: number;
  /** True if a request that changes something was sent before, and the service did not refuse it. Default: false. */
  readonly isChangeSent?: boolean;
  readonly cause?: unknown;
}

/** True if the same call may succeed later without a change of the target or of the service's settings. */
const PASSING: ReadonlySet<RedfishErrorCode> = new Set([
  'unreachable',
  'connection-lost',
  'timeout',
  'precondition-failed',
  'unavailable',
  'server-failed',
  'memory-used-up',
]);

/** The only error of this package. Its message names the service and the request, and contains no credentials. */
export class RedfishError extends Error {
  override readonly name = 'RedfishError';
  readonly code: RedfishErrorCode;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isChangeSent: boolean;
  readonly #details: RedfishErrorDetails;

  constructor(code: RedfishErrorCode, message: string, details: RedfishErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.isChangeSent = details.isChangeSent ?? false;
    this.#details = details;
  }

  /** The same error with another message, and with these details instead of its own. */
  with(message: string, details: RedfishErrorDetails = {}): RedfishError {
    return new RedfishError(this.code, message, { ...this.#details, ...details });
  }

  /** True if the same call may succeed later. Do not repeat a power action for that reason alone: the service may have carried it out. */
  get isPassing(): boolean {
    return PASSING.has(this.code);
  }
}

/** Failures without an answer. */
const UNANSWERED: ReadonlySet<RedfishErrorCode> = new Set([
  'unreachable',
  'timeout',
  'connection-lost',
  'memory-used-up',
  'aborted',
  'closed',
]);

/** True if a request that changes something was sent, and it is not known whether the service carried it out. */
export function isOutcomeUnknown({ code, isChangeSent }: RedfishError): boolean {
  return code === 'outcome-unknown' || (isChangeSent && UNANSWERED.has(code));
}
