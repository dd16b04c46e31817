import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { AgentsSettings, ClusterNetworks } from '@vmdhcp/reconciler';
import { createLogger, ExitCode, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { keepMemorySmall } from '@vmdhcp/service-process/memory';
import { type ClusterOptions, findCluster, openConnection } from '../run/connect.js';
import { ControllerProcess, type ControllerProcessSettings } from '../run/controller-process.js';
import { readElectionTimes } from '../run/election-times.js';
import { createMetrics } from '../run/metrics.js';

export interface RunOptions extends ClusterOptions {
  readonly onlyNamespace?: string;
  readonly name: string;
  readonly http: ListenAddress | 'off';
  readonly leaderElection: boolean;
  readonly crds: boolean;
  readonly clusterNetworks: ClusterNetworks;
  readonly enableCacheDumpApi?: boolean;
  readonly logLevel: LogLevel;
  readonly debug?: boolean;
  readonly trace?: boolean;
}

/**
 * Runs until the process is asked to end, or a part of it fails.
 * @param agents - undefined: agents are none of the controller's business.
 * @throws CommandError where it cannot start at all.
 */
export async function runController(options: RunOptions, agents: AgentsSettings | undefined): Promise<void> {
  const logger = (await createLogger(logLevelOf(options))).child({ name: options.name });
  const asked = stopSignal();
  keepMemorySmall((error) => logger.warn({ err: errorForLog(error) }, 'memory of the program cannot be returned'));
  const metrics = createMetrics();
  const settings = toSettings(options, agents);
  const cluster = await findCluster(options);
  const { onRequest } = metrics;
  const controller = new ControllerProcess(settings, {
    connection: openConnection(cluster, { onRequest }),
    leaseConnection: openConnection(cluster, { onRequest, timeoutMs: leaseTimeoutMs(settings.election) }),
    logger,
    metrics,
    onFailed: (end) => {
      if (end.kind === 'leadership-lost')
        logger.fatal('leadership lost: another controller may be leader now; this process ends');
      else logger.fatal({ part: end.part, err: errorForLog(end.error) }, 'a part of the controller failed; this process ends');
      process.exit(ExitCode.failed);
    },
  });
  await controller.start();
  if (asked.aborted) await controller.stop();
  else asked.addEventListener('abort', () => void controller.stop(), { once: true });
}

/** Several requests fit into the time that a leader leads without having renewed. */
function leaseTimeoutMs(election: ElectionTimes | undefined): number {
  return Math.min(10_000, (election?.renewDeadlineMs ?? 10_000) / 3);
}

function logLevelOf({ trace, debug, logLevel }: RunOptions): LogLevel {
  if (trace || isSet('VM_DHCP_CONTROLLER_TRACE')) return 'trace';
  return debug || isSet('VM_DHCP_CONTROLLER_DEBUG') ? 'debug' : logLevel;
}

/** As Go reads truth: `false` and `0` are none. */
function isSet(variable: string): boolean {
  return /^(1|t|true)$/i.test(process.env[variable] ?? '');
}

function toSettings(options: RunOptions, agents: AgentsSettings | undefined): ControllerProcessSettings {
  return {
    http: options.http,
    election: options.leaderElection ? readElectionTimes(process.env) : undefined,
    agents,
    onlyNamespace: options.onlyNamespace,
    cacheDumps: options.enableCacheDumpApi === true,
    applyCrds: options.crds,
    clusterNetworks: options.clusterNetworks,
  };
}
