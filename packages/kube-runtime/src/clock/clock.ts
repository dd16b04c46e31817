/** Time as a port. It only goes forward, whatever happens to the wall clock. */
export interface Clock {
  /** Milliseconds since some moment in the past. */
  readonly nowMs: () => number;
  /** Calls `run` once, `delayMs` from now or later. Returns a function that cancels it. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}
