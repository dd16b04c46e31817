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
  /** What it waits for, for people; empty if the process can be ready. Default: its caches. */
  readonly unready?: () => readonly string[];
  /** What it lacks although the process works without it, for people. Default: nothing. */
  readonly lacks?: () => readonly string[];
  /** Starts to follow the cluster. It writes nothing. */
  readonly start: () => void;
  /** Called when this process becomes leader: it begins to write as soon as the caches are complete and as new as this call. */
  readonly lead: () => void;
  /** Begins nothing new; resolves when all work has ended. */
  readonly stop: () => Promise<void>;
}
