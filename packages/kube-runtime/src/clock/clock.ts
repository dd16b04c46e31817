/** Time as a port. Only ever goes forward, whatever is done to the clock of the wall. */
export interface Clock {
  /** Milliseconds since some moment in the past. */
  readonly nowMs: () => number;
  /** Calls `run` once, `delayMs` from now or later. Returns how to call it off. */
  readonly after: (delayMs: number, run: () => void) => () => void;
}
