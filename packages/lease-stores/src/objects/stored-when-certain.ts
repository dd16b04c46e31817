import { backOffMs, type Clock, NotLeadingError } from '@vmdhcp/kube-runtime';

/** After this time a write has failed: the client has sent its message again by then. */
const DEADLINE_MS = 10_000;
/** How long to wait for a response. */
const REQUEST_TIMEOUT_MS = 4_000;
const FIRST_DELAY_MS = 20;
const MOST_DELAY_MS = 1_000;
const MOST_ASKED_DELAY_MS = 5_000;

export interface Retries {
  readonly clock: Clock;
  /** 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** Another replica has taken over: this one writes nothing more. */
export class LeasesTakenOverError extends Error {
  readonly code = 'ERR_LEASES_TAKEN_OVER';

  constructor(by: string) {
    super(`leases are recorded by another replica now (${by}); this one stops`);
  }
}

/** The API server refused it, and will again. Nothing was written. */
export class LeasesRefusedError extends Error {
  readonly code = 'ERR_LEASES_REFUSED';
}

/**
 * Returns the first result that is not undefined. Failures and undefined results are tried again until a deadline.
 * @throws the error of the last attempt; at once if another attempt cannot help.
 */
export async function storedWhenCertain<Result>(
  { clock, random }: Retries,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const deadlineMs = clock.nowMs() + DEADLINE_MS;
  for (let failures = 1; ; failures++) {
    let failure: unknown = new Error('other clients keep changing the same object');
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (isFinal(error)) throw error;
      failure = error;
    }
    const delayMs = Math.max(
      askedDelayMs(failure),
      backOffMs(failures, { firstMs: FIRST_DELAY_MS, mostMs: MOST_DELAY_MS, random }),
    );
    if (clock.nowMs() + delayMs > deadlineMs) throw failure;
    await new Promise<void>((resolve) => void clock.after(delayMs, resolve));
  }
}

/** The response, or an error if it takes too long: then it is not known whether a write happened. */
export function answered<Answer>(clock: Clock, request: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const callOff = clock.after(REQUEST_TIMEOUT_MS, () => reject(new Error(`no answer within ${REQUEST_TIMEOUT_MS} ms`)));
    request.finally(callOff).then(resolve, reject);
  });
}

function isFinal(error: unknown): boolean {
  return error instanceof LeasesTakenOverError || error instanceof LeasesRefusedError || error instanceof NotLeadingError;
}

function askedDelayMs(error: unknown): number {
  const asked = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : undefined;
  return typeof asked === 'number' ? Math.min(asked, MOST_ASKED_DELAY_MS) : 0;
}
