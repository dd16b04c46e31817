/** How long to wait before trying again. */
export interface BackOffSettings {
  /** After the first failure. */
  readonly firstMs: number;
  /** At most. */
  readonly mostMs: number;
  /** 0 up to, not including, 1. Handed in, as everything here is repeatable. */
  readonly random: () => number;
}

/** What a server that is busy asks for (`Retry-After`): such an error has `retryAfterMs`. At most a minute is obeyed. */
export function askedDelayMs(error: unknown): number {
  const asked = typeof error === 'object' && error !== null && 'retryAfterMs' in error ? error.retryAfterMs : undefined;
  return typeof asked === 'number' ? Math.min(asked, 60_000) : 0;
}

/**
 * The delay after so many failures in a row (1 or more): doubled each time up to the most, then somewhere in its upper half,
 * so that many who failed together do not try together.
 */
export function backOffMs(failures: number, { firstMs, mostMs, random }: BackOffSettings): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random();
}
