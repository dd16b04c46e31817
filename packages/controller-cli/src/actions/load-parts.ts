/** Parts that join DHCP in the process of the controller. The modules of each are loaded only where it is asked for. */
import type { HostAgentSettings } from '@vmdhcp/bare-metal/controller';
import { type AddParts, type ControllerMetrics, openConnection } from '@vmdhcp/controller-process';
import type { WakeOnLanSettings } from '@vmdhcp/controller-process/wake-on-lan';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import type { AgentsSettings } from '@vmdhcp/reconciler';
import { type Logger, packageVersion } from '@vmdhcp/service-process';
import type { RunOptions } from './run-options.js';

/** What parts that join DHCP are made of. */
interface LoadPorts {
  readonly cluster: ClusterConnection;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
}

/** How long a request of a wake-up may take: agents wait for five seconds, and the machine is read after a request without answer. */
const WAKE_TIMEOUT_MS = 3_000;

/** Its modules are loaded only on request. */
export async function loadWakeOnLan(
  settings: WakeOnLanSettings | undefined,
  { cluster, logger, metrics }: LoadPorts,
): Promise<AddParts | undefined> {
  if (settings === undefined) return undefined;
  const { addWakeOnLan } = await import('@vmdhcp/controller-process/wake-on-lan');
  const { registry, onRequest } = metrics;
  const connection = openConnection(cluster, { onRequest, timeoutMs: WAKE_TIMEOUT_MS });
  return addWakeOnLan(settings, { connection, logger, registry });
}

/** Its modules are loaded only on request. */
export async function loadBareMetal(
  settings: HostAgentSettings | undefined,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: ControllerMetrics },
): Promise<AddParts | undefined> {
  if (settings === undefined) return undefined;
  const { addBareMetal } = await import('@vmdhcp/controller-process/bare-metal');
  return addBareMetal(settings, { logger, metrics });
}

/** How long the API server may take to decide about a token: a person waits for it. */
const REVIEW_TIMEOUT_MS = 5_000;

/** Its modules are loaded only on request. */
export async function loadStatusPage(
  { statusPage, onlyNamespace, wakeOnLan, bareMetal }: RunOptions,
  agents: AgentsSettings | undefined,
  { cluster, logger, metrics }: LoadPorts,
): Promise<AddParts | undefined> {
  if (statusPage === undefined) return undefined;
  const { addStatusPage, MOST_ANSWER_OCTETS } = await import('@vmdhcp/controller-process/page');
  const limits = { timeoutMs: REVIEW_TIMEOUT_MS, mostAnswerOctets: MOST_ANSWER_OCTETS };
  const connection = openConnection(cluster, { onRequest: metrics.onRequest, ...limits });
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
