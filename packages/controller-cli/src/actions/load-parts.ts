/** Loads parts that join DHCP in the process of the controller. The modules of each are loaded only on request. */
import { readFileSync } from 'node:fs';
import type { HostAgentSettings } from '@vmdhcp/bare-metal/controller';
import { type AddParts, type ControllerMetrics, openConnection } from '@vmdhcp/controller-process';
import type { WakeOnLanSettings } from '@vmdhcp/controller-process/wake-on-lan';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import type { AgentsSettings } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';
import type { RunOptions } from './run-options.js';

/** The dependencies of parts that join DHCP. */
export interface LoadPorts {
  readonly cluster: ClusterConnection;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
}

/**
 * The time limit of a request for a wake-up: agents wait for five seconds, and the machine is read after a request without a
 * response.
 */
export const WAKE_TIMEOUT_MS = 3_000;

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

/** The time limit for the API server to decide about a token: a person waits for it. */
export const REVIEW_TIMEOUT_MS = 5_000;

/** Its modules are loaded only on request. */
export async function loadStatusPage(
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
  return addStatusPage(statusPage, shown, { connection, logger, version: ownVersion() });
}

export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  return version;
}
