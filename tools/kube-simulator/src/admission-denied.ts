import { ApiError } from './api-error.js';

/** A denial with its warnings: they reach the client although the request fails. */
export class AdmissionDenied extends ApiError {
  readonly warnings: readonly string[];

  constructor(failure: ApiError['failure'], warnings: readonly string[]) {
    super(failure);
    this.warnings = warnings;
  }
}
