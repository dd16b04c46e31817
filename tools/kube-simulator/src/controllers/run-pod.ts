import type { Pod } from './workload-kinds.js';

/** A process that stands for the containers of a Pod. */
export interface PodProcess {
  /** Fulfilled when the Pod is ready for the first time. A rejection means that it never is. */
  readonly ready: Promise<unknown>;
  /** Fulfilled with the exit code when the process has ended; a rejection is an exit with code 1. */
  readonly exited: Promise<number>;
  /** Asks it to end within this number of seconds (SIGTERM); 0 kills it at once (SIGKILL). May be called more than once. */
  stop(gracePeriodSeconds: number): void;
  /** Calls the listener whenever readiness changes after `ready`. If absent, it stays ready until it ends. */
  onReadiness?(listener: (ready: boolean) => void): void;
}

/** Starts the process of a Pod; called again for every restart. */
export type RunPod = (pod: Pod) => PodProcess;

/** A process that is ready at once, and ends when it is asked to. */
export const idlePod: RunPod = () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  return { ready: Promise.resolve(), exited: promise, stop: () => resolve(0) };
};
