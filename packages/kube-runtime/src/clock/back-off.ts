/** How long to wait before trying again. */
export interface BackOffSettings {
  /** After the first failure. */
  readonly firstMs: number;
  /** The longest delay. */
  readonly mostMs: number;
  /** 0 up to, not including, 1. Passed in, so that results are repeatable. */
  readonly random: () => number;
}

/** The delay that a busy server asks for (`Retry-After`), as `retryAfterMs` of the error; at most a minute. */
export function askedDelayMs(error: unknown): number {
  const asked = typeof error === 'object' && error !== null && 'retryAfterMs' in error ? error.retryAfterMs : undefined;
  return typeof asked === 'number' ? Math.min(asked, 60_000) : 0;
}

/**
 * The delay after this many failures in a row (1 or more): doubled each time up to the longest, then a random value in its upper half, so that many
 * clients that failed together do not retry together.
 */
export function backOffMs(failures: number, { firstMs, mostMs, random }: BackOffSettings): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random();
}
