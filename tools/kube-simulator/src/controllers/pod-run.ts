/**
 * The life of a Pod on its Node, as a state machine: an event goes in, the next state and the actions come out. All containers of a Pod start and end
 * together here, because one process stands for them.
 */

/** How a process ended. */
export interface Exit {
  readonly exitCode: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

export interface PodRun {
  /**
   * `starting`: not ready yet; `running`: was ready once; `waiting`: to be started again; `stopping`: was asked to end;
   * `finished`: ended for good.
   */
  readonly stage: 'starting' | 'running' | 'waiting' | 'stopping' | 'finished';
  readonly ready: boolean;
  /** When ready last changed. */
  readonly readySinceMs: number;
  readonly restarts: number;
  readonly startedAtMs: number;
  readonly lastExit?: Exit;
  /** The current back-off, or the next one. */
  readonly backOffMs: number;
  /** Deletion was requested: the Pod is removed when the process has ended. */
  readonly removing: boolean;
}

export type PodEvent =
  | { readonly kind: 'ready' | 'unready' | 'back-off-over'; readonly atMs: number }
  | { readonly kind: 'exited'; readonly exitCode: number; readonly atMs: number }
  | { readonly kind: 'deletion'; readonly graceSeconds: number; readonly atMs: number };

export type PodCommand =
  | { readonly kind: 'start' }
  | { readonly kind: 'wait'; readonly delayMs: number }
  | { readonly kind: 'stop'; readonly graceSeconds: number }
  /** Nothing of the Pod is left: its object may be removed. */
  | { readonly kind: 'remove' };

export interface BackOff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The back-off of the real kubelet; it is reset when a process ran for longer than twice the longest wait. */
export const defaultBackOff: BackOff = { firstMs: 10_000, longestMs: 300_000 };

export interface RunPolicy {
  readonly restartPolicy: string;
  readonly backOff: BackOff;
}

/** A Pod whose process was just started. */
export const startRun = (atMs: number, restarts = 0): PodRun => {
  return { stage: 'starting', ready: false, readySinceMs: atMs, restarts, startedAtMs: atMs, backOffMs: 0, removing: false };
};

export interface Transition {
  readonly run: PodRun;
  readonly commands: readonly PodCommand[];
}

/** The state of the Pod after this event. */
export const advance = (run: PodRun, event: PodEvent, policy: RunPolicy): Transition => {
  switch (event.kind) {
    case 'ready':
      return alive(run) ? changed({ ...withReadiness(run, true, event.atMs), stage: 'running' }) : changed(run);
    case 'unready':
      return changed(withReadiness(run, false, event.atMs));
    case 'exited':
      return afterExit(run, event, policy);
    case 'back-off-over':
      if (run.stage !== 'waiting') return changed(run);
      return changed({ ...run, stage: 'starting', restarts: run.restarts + 1, startedAtMs: event.atMs }, { kind: 'start' });
    case 'deletion':
      return afterDeletion(run, event.graceSeconds);
  }
};

const alive = ({ stage }: PodRun): boolean => stage === 'starting' || stage === 'running';

const changed = (run: PodRun, ...commands: readonly PodCommand[]): Transition => ({ run, commands });

const withReadiness = (run: PodRun, ready: boolean, atMs: number): PodRun =>
  run.ready === ready ? run : { ...run, ready, readySinceMs: atMs };

const afterExit = (run: PodRun, { exitCode, atMs }: PodEvent & { kind: 'exited' }, policy: RunPolicy): Transition => {
  const lastExit = { exitCode, startedAtMs: run.startedAtMs, finishedAtMs: atMs };
  const ended: PodRun = { ...withReadiness(run, false, atMs), lastExit };
  if (run.removing) return changed({ ...ended, stage: 'finished' }, { kind: 'remove' });
  if (!isStartedAgain(policy.restartPolicy, exitCode)) return changed({ ...ended, stage: 'finished' });
  const { firstMs, longestMs } = policy.backOff;
  const calmed = atMs - run.startedAtMs > 2 * longestMs;
  const delayMs = calmed ? 0 : run.backOffMs;
  // The first restart is at once; from then on each wait is twice the one before.
  const backOffMs = delayMs === 0 ? firstMs : Math.min(longestMs, delayMs * 2);
  return changed({ ...ended, stage: 'waiting', backOffMs }, { kind: 'wait', delayMs });
};

const isStartedAgain = (restartPolicy: string, exitCode: number): boolean =>
  restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);

const afterDeletion = (run: PodRun, graceSeconds: number): Transition => {
  switch (run.stage) {
    case 'starting':
    case 'running':
      return changed({ ...run, stage: 'stopping', removing: true }, { kind: 'stop', graceSeconds });
    case 'stopping':
      return changed({ ...run, removing: true }, { kind: 'stop', graceSeconds });
    case 'waiting':
    case 'finished':
      return changed({ ...run, stage: 'finished', removing: true }, { kind: 'remove' });
  }
};
