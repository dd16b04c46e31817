import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { AGENT_NETWORK_CONFIGS_VARIABLE, parseAgentNetworkConfigs } from '@vmdhcp/reconciler';
import { type ClusterConnection, connectByKubeConfig, connectInCluster, NoClusterError } from '@vmdhcp/reconciler/client-node';
import { CommandError, createLogger, ExitCode, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { InvalidArgumentError, Option } from 'commander';
import { ClusterAgent, type ElectionTimes } from '../cluster/cluster-agent.js';

export interface ClusterServeOptions {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
  readonly name?: string;
  readonly dryRun?: boolean;
  readonly leaderElection: boolean;
  readonly leaseSeconds: number;
  readonly http: ListenAddress | 'off';
  readonly logLevel: LogLevel;
}

/**
 * A leader renews four times in the time it may lead without having renewed. It gives up so much before another one may take
 * over that an address whose time is counted in whole seconds, and taken away a quarter of one late, is gone by then.
 */
const RENEW_DEADLINE_PART = 0.6;
const RETRY_PERIOD_PART = 0.15;
const LEAST_LEASE_SECONDS = 4;

export const clusterServeOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: the ServiceAccount of the pod').env('KUBECONFIG'),
  new Option('--kubecontext <name>', 'context of the kubeconfig').env('KUBECONTEXT'),
  new Option('--name <name>', 'name in the log').env('VM_DHCP_AGENT_NAME'),
  new Option('--lease-seconds <seconds>', 'how long a replica that is gone is waited for before another one leads')
    .argParser(parseSeconds)
    .default(4),
  new Option('--no-leader-election', 'lead without a Lease: there must be no other replica'),
  new Option('--dry-run', 'check what is to be served, and serve nothing'),
];

/** @throws CommandError where it cannot start at all. */
export async function serveCluster(options: ClusterServeOptions): Promise<void> {
  const parsed = parseAgentNetworkConfigs(process.env[AGENT_NETWORK_CONFIGS_VARIABLE]);
  if (!parsed.ok) throw new CommandError(parsed.problem, ExitCode.invalidData);
  const logger = (await createLogger(options.logLevel)).child(options.name === undefined ? {} : { name: options.name });
  for (const problem of parsed.problems) logger.error(problem);
  const asked = stopSignal();
  if (options.dryRun) {
    logger.info({ configs: parsed.configs }, 'dry run: this would be served');
    return;
  }
  const cluster = await connect(options);
  const agent = new ClusterAgent(
    {
      configs: parsed.configs,
      cluster,
      namespace: process.env['POD_NAMESPACE'] || cluster.namespace,
      identity: `${process.env['POD_NAME'] || hostname()}_${randomUUID()}`,
      election: options.leaderElection ? electionTimes(options.leaseSeconds) : undefined,
      configureInterfaces: true,
      http: options.http === 'off' ? undefined : options.http,
    },
    logger,
  );
  await agent.start();
  const stop = () => void agent.stop();
  if (asked.aborted) stop();
  else asked.addEventListener('abort', stop, { once: true });
}

/** A kubeconfig that is named and not there means the pod's own ServiceAccount, as charts name one and mount none. */
async function connect({ kubeconfig, kubecontext }: ClusterServeOptions): Promise<ClusterConnection> {
  try {
    const isThere = Boolean(kubeconfig) && existsSync(kubeconfig ?? '');
    if (!isThere && process.env['KUBERNETES_SERVICE_HOST']) return await connectInCluster(process.env);
    return await connectByKubeConfig({
      ...(kubeconfig && { path: kubeconfig }),
      ...(kubecontext && { context: kubecontext }),
    });
  } catch (error) {
    if (!(error instanceof NoClusterError)) throw error;
    const message = `${error.message}; give --pools FILE to serve a host without a cluster`;
    throw new CommandError(message, ExitCode.noInput, { cause: error });
  }
}

function electionTimes(leaseSeconds: number): ElectionTimes {
  const leaseDurationMs = leaseSeconds * 1000;
  return {
    leaseDurationMs,
    renewDeadlineMs: leaseDurationMs * RENEW_DEADLINE_PART,
    retryPeriodMs: leaseDurationMs * RETRY_PERIOD_PART,
  };
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < LEAST_LEASE_SECONDS || seconds > 3600) {
    throw new InvalidArgumentError(`write whole seconds, ${LEAST_LEASE_SECONDS} to 3600.`);
  }
  return seconds;
}
