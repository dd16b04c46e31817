import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { AgentLog } from '@vmdhcp/agent-process';
import { ClusterAgent, type ClusterAgentSettings, idle, podIsolation } from '@vmdhcp/agent-process/cluster';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import { AGENT_NETWORK_CONFIGS_VARIABLE, parseAgentNetworkConfigs } from '@vmdhcp/ippool-api/agent';
import { type ClusterConnection, connectByKubeConfig, connectInCluster, NoClusterError } from '@vmdhcp/kube-runtime/node';
import { CommandError, createLogger, ExitCode, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { takeAgentCapabilities } from './take-agent-capabilities.js';

export interface ClusterServeOptions {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
  readonly name?: string;
  readonly dryRun?: boolean;
  readonly leaderElection: boolean;
  readonly leaseSeconds: number;
  readonly leaseName: string;
  readonly http: ListenAddress | 'off';
  readonly enableCacheDumpApi?: boolean;
  readonly logLevel: LogLevel;
  readonly logPackets?: boolean;
}

/** Serves the pools of a cluster until the process is told to end. @throws CommandError if it cannot start at all. */
export async function serveCluster(options: ClusterServeOptions): Promise<void> {
  const parsed = parseAgentNetworkConfigs(process.env[AGENT_NETWORK_CONFIGS_VARIABLE]);
  const logger = (await createLogger(options.logLevel)).child(options.name === undefined ? {} : { name: options.name });
  // A dry run isolates interfaces too, and opens no port.
  takeAgentCapabilities({ serves: options.dryRun !== true, configures: true }, logger);
  const asked = stopSignal();
  const http = options.http === 'off' ? undefined : options.http;
  const podAddress = process.env['POD_IP'] || undefined;
  const isolation = podIsolation(parsed.ok ? parsed.configs : [], {
    podAddress,
    observer: new AgentLog({ logger, nowMs: () => performance.now() }),
  });
  // First, before anything that may fail: the rules stay as long as the pod, also for its restarted containers.
  isolation.check();
  if (!parsed.ok) {
    await idle(parsed.problem, { http, podAddress, isolation, logger, asked });
    return;
  }
  for (const problem of parsed.problems) logger.error(problem);
  const cluster = await connect(options);
  const agent = new ClusterAgent({ ...toSettings(options, cluster), configs: parsed.configs, isolation, podAddress }, logger);
  await agent.start();
  const stop = () => void agent.stop();
  if (asked.aborted) stop();
  else asked.addEventListener('abort', stop, { once: true });
}

/** Converts the flags to settings. */
export function toSettings(
  options: ClusterServeOptions,
  cluster: ClusterConnection,
): Omit<ClusterAgentSettings, 'configs' | 'isolation' | 'podAddress'> {
  return {
    cluster,
    namespace: process.env['POD_NAMESPACE'] || cluster.namespace,
    leaseName: options.leaseName,
    identity: `${process.env['POD_NAME'] || hostname()}_${randomUUID()}`,
    election: electionTimes(options.leaseSeconds),
    isAlone: !options.leaderElection,
    isDryRun: options.dryRun === true,
    http: options.http === 'off' ? undefined : options.http,
    logPackets: options.logPackets === true,
    showsLeases: options.enableCacheDumpApi === true,
  };
}

/** If the named kubeconfig does not exist, use the pod's own ServiceAccount, because charts name one and mount none. */
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
