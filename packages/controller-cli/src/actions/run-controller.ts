import type { HostAgentSettings } from '@vmdhcp/bare-metal/controller';
import {
  type AddParts,
  type ClusterOptions,
  type ControllerMetrics,
  ControllerProcess,
  type ControllerProcessSettings,
  clusterOf,
  createControllerMetrics,
  joinParts,
  logLevelOf,
  openConnection,
  readElectionTimes,
} from '@vmdhcp/controller-process';
import type { StatusPageSettings } from '@vmdhcp/controller-process/page';
import type { WakeOnLanSettings } from '@vmdhcp/controller-process/wake-on-lan';
import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { type ClusterConnection, errorForLog } from '@vmdhcp/kube-runtime/node';
import type { AgentsSettings, AuditSettings, ClusterNetworks } from '@vmdhcp/reconciler';
import {
  createLogger,
  ExitCode,
  type ListenAddress,
  type Logger,
  type LogLevel,
  packageVersion,
  stopSignal,
} from '@vmdhcp/service-process';
import { keepMemorySmall } from '@vmdhcp/service-process/memory';

export interface RunOptions extends ClusterOptions {
  readonly onlyNamespace?: string;
  readonly name: string;
  readonly http: ListenAddress | 'off';
  readonly leaderElection: boolean;
  readonly crds: boolean;
  readonly clusterNetworks: ClusterNetworks;
  /** Undefined: there is no Wake-on-LAN. */
  readonly wakeOnLan: WakeOnLanSettings | undefined;
  /** Undefined: there are no bare-metal hosts. */
  readonly bareMetal: HostAgentSettings | undefined;
  /** Undefined: nothing is kept of who had which address. */
  readonly audit: AuditSettings | undefined;
  /** Undefined: there is no page. */
  readonly statusPage: StatusPageSettings | undefined;
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
  const logger = (await createLogger(logLevelOf(options, process.env))).child({ name: options.name });
  const asked = stopSignal();
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
  if (asked.aborted) await controller.stop();
  else asked.addEventListener('abort', () => void controller.stop(), { once: true });
}

/** What parts that join DHCP are made of. */
interface LoadPorts {
  readonly cluster: ClusterConnection;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
}

/** How long a request of a wake-up may take: agents wait for five seconds, and the machine is read after a request without answer. */
const WAKE_TIMEOUT_MS = 3_000;

/** Its modules are loaded only where it is asked for. */
async function loadWakeOnLan(
  settings: WakeOnLanSettings | undefined,
  { cluster, logger, metrics }: LoadPorts,
): Promise<AddParts | undefined> {
  if (settings === undefined) return undefined;
  const { addWakeOnLan } = await import('@vmdhcp/controller-process/wake-on-lan');
  const { registry, onRequest } = metrics;
  const connection = openConnection(cluster, { onRequest, timeoutMs: WAKE_TIMEOUT_MS });
  return addWakeOnLan(settings, { connection, logger, registry });
}

/** Its modules are loaded only where it is asked for. */
async function loadBareMetal(
  settings: HostAgentSettings | undefined,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: ControllerMetrics },
): Promise<AddParts | undefined> {
  if (settings === undefined) return undefined;
  const { addBareMetal } = await import('@vmdhcp/controller-process/bare-metal');
  return addBareMetal(settings, { logger, metrics });
}

/** How long the API server may take to decide about a token: a person waits for it. */
const REVIEW_TIMEOUT_MS = 5_000;

/** Its modules are loaded only where it is asked for. */
async function loadStatusPage(
  { statusPage, onlyNamespace, wakeOnLan, bareMetal }: RunOptions,
  agents: AgentsSettings | undefined,
  { cluster, logger, metrics }: LoadPorts,
): Promise<AddParts | undefined> {
  if (statusPage === undefined) return undefined;
  const { addStatusPage } = await import('@vmdhcp/controller-process/page');
  const connection = openConnection(cluster, { onRequest: metrics.onRequest, timeoutMs: REVIEW_TIMEOUT_MS });
  const shown = {
    onlyNamespace,
    agentsNamespace: agents?.namespace,
    hasWakeOnLan: wakeOnLan !== undefined,
    hasBareMetal: bareMetal !== undefined,
  };
  return addStatusPage(statusPage, shown, {
    connection,
    logger,
    version: packageVersion(new URL('../../package.json', import.meta.url)),
  });
}

/** Several requests fit into the time that a leader leads without having renewed. */
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
    clusterNetworks: options.clusterNetworks,
    audit: options.audit,
    mayLackKinds: options.bareMetal !== undefined,
    macAddressMemory: options.wakeOnLan && { namespace: options.wakeOnLan.agents.namespace },
  };
}
