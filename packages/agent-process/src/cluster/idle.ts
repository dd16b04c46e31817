import type { IsolatedInterfaces } from '@vmdhcp/dhcp-agent';
import { type ListenAddress, type Logger, startStatusServer } from '@vmdhcp/service-process';
import { Registry } from 'prom-client';
import { listenOnPod } from './listen-on-pod.js';
import { readPodNetwork } from './pod-interface.js';

/** How often the log repeats what the agent waits for. */
const REMINDER_MS = 300_000;
const CHECK_INTERVAL_MS = 1_000;

export interface IdlePorts {
  readonly http: ListenAddress | undefined;
  /** Set if Kubernetes sets it. */
  readonly podAddress: string | undefined;
  readonly isolation: IsolatedInterfaces;
  readonly logger: Logger;
  /** Aborts when the process is told to end. */
  readonly asked: AbortSignal;
}

/**
 * Serves nothing, and logs why: the process is alive but never ready, is not a candidate for leadership, and isolates its
 * interfaces. A rollout stops at such a pod, and pods of the previous template keep running. Resolves when it listens; it ends
 * when it is told to.
 *
 * @throws CommandError if the HTTP address is in use.
 */
export async function idle(problem: string, { http, podAddress, isolation, logger, asked }: IdlePorts): Promise<void> {
  const registry = new Registry();
  const socket = http && (await listenOnPod(http, readPodNetwork(podAddress)));
  const server = socket && (await startStatusServer(socket, { unready: () => [problem], registry }));
  const logProblem = () => logger.error(`nothing is served: ${problem}`);
  logProblem();
  const reminder = setInterval(logProblem, REMINDER_MS);
  const check = setInterval(() => isolation.check(), CHECK_INTERVAL_MS);
  const stop = () => {
    clearInterval(reminder);
    clearInterval(check);
    server?.close();
    server?.closeAllConnections();
    logger.info('stopped');
  };
  if (asked.aborted) stop();
  else asked.addEventListener('abort', stop, { once: true });
}
