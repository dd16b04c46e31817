import {
  ControllerProcess,
  type ControllerProcessSettings,
  clusterOf,
  createControllerMetrics,
  joinParts,
  logLevelOf,
  openConnection,
  readElectionTimes,
} from '@vmdhcp/controller-process';
import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { AgentsSettings } from '@vmdhcp/reconciler';
import { createLogger, ExitCode, stopSignal } from '@vmdhcp/service-process';
import { keepMemorySmall } from '@vmdhcp/service-process/memory';
import { loadBareMetal, loadStatusPage, loadWakeOnLan } from './load-parts.js';
import type { RunOptions } from './run-options.js';

/**
 * Runs until the process is told to end, or a part of it fails.
 * @param agents - undefined if the controller does not manage agents.
 * @throws CommandError if it cannot start at all.
 */
export async function runController(options: RunOptions, agents: AgentsSettings | undefined): Promise<void> {
  const logger = (await createLogger(logLevelOf(options, process.env))).child({ name: options.name });
  const asked = stopSignal();
  // It holds nothing before it has started: then it ends at once, whatever it waits for.
  const endAtOnce = () => process.exit(ExitCode.ok);
  asked.addEventListener('abort', endAtOnce);
  keepMemorySmall((error) => logger.warn({ err: errorForLog(error) }, 'memory of the program cannot be returned'));
  const metrics = createControllerMetrics();
  const settings = toSettings(options, agents);
  const cluster = await clusterOf(options);
  const { onRequest } = metrics;
  const controller = new ControllerProcess(settings, {
    connection: openConnection(cluster, { onRequest }),
    leaseConnection: openConnection(cluster, { onRequest, timeoutMs: leaseTimeoutMs(settings.election) }),
    logger,
    metrics,
    addParts: joinParts([
      await loadWakeOnLan(options.wakeOnLan, { cluster, logger, metrics }),
      await loadBareMetal(options.bareMetal, { logger, metrics }),
      await loadStatusPage(options, agents, { cluster, logger, metrics }),
    ]),
    onFailed: (end) => {
      if (end.kind === 'leadership-lost')
        logger.fatal('leadership lost: another controller may be leader now; this process ends');
      else logger.fatal({ part: end.part, err: errorForLog(end.error) }, 'a part of the controller failed; this process ends');
      process.exit(ExitCode.failed);
    },
  });
  await controller.start();
  asked.removeEventListener('abort', endAtOnce);
  asked.addEventListener('abort', () => void controller.stop());
}

/** Several requests fit into the time that a leader stays leader without a renewal. */
function leaseTimeoutMs(election: ElectionTimes | undefined): number {
  return Math.min(10_000, (election?.renewDeadlineMs ?? 10_000) / 3);
}

function toSettings(options: RunOptions, agents: AgentsSettings | undefined): ControllerProcessSettings {
  return {
    http: options.http,
    election: options.leaderElection ? readElectionTimes(process.env) : undefined,
    agents,
    onlyNamespace: options.onlyNamespace,
    cacheDumps: options.enableCacheDumpApi === true,
    applyCrds: options.crds,
    annotatesMachines: options.annotateMachines === true,
    clusterNetworks: options.clusterNetworks,
    audit: options.audit,
    mayLackKinds: options.bareMetal !== undefined,
    macAddressMemory: options.wakeOnLan && { namespace: options.wakeOnLan.agents.namespace },
  };
}
