import type { JsonObject } from './api-object.js';

/** One thing wrong with one field, as in `details.causes` of a Status. */
export interface Cause {
  /** `FieldValueRequired`, `FieldValueInvalid`, ...; the text that `message` begins with follows from it. */
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** The answer to a request that failed: a Status of kind Failure. */
export interface Failure {
  /** HTTP status. */
  readonly code: number;
  /** A metav1.StatusReason; absent if the real server has none. */
  readonly reason?: string;
  readonly message: string;
  readonly details?: JsonObject;
  /** Goes out as `Retry-After` too. */
  readonly retryAfterSeconds?: number;
  /** Goes out as `metadata.continue`: a list may go on with it. */
  readonly continueToken?: string;
}

/** A request that failed. */
export class ApiError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}
