/**
 * A controller that shares a process with others: its caches, its queues and its reconcilers.
 *
 * Calls come in this order, each at most once: `start`, `lead` (only where leadership is gained), `stop` (at any time).
 */
export interface ControllerPart {
  /** For logs and readiness; unique in the process. */
  readonly name: string;
  /** True once its caches are complete. */
  readonly synced: boolean;
  /** What it waits for, for people; empty: it keeps the process from nothing. Default: its caches. */
  readonly unready?: () => readonly string[];
  /** What it does not have and the process works without, for people. Default: nothing. */
  readonly lacks?: () => readonly string[];
  /** Begins to follow the cluster. It writes nothing. */
  readonly start: () => void;
  /** This process is leader: begins to write, as soon as the caches are complete and as new as this call. */
  readonly lead: () => void;
  /** Begins nothing new from this call on; resolves when nothing is under way. */
  readonly stop: () => Promise<void>;
}
