import type { PageErrorReason } from '../model/page-data.js';

/** Why a request is not answered: part of the protocol, not a bug. */
export class PageProblem extends Error {
  readonly code = 'ERR_PAGE_PROBLEM';
  readonly status: number;
  readonly reason: PageErrorReason;

  constructor(status: number, reason: PageErrorReason, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}
