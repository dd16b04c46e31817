import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { AgentLog } from '@vmdhcp/agent-process';
import { idle, KubernetesAgent, type KubernetesAgentSettings, podIsolation } from '@vmdhcp/agent-process/cluster';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import { AGENT_NETWORK_CONFIGS_VARIABLE, parseAgentNetworkConfigs } from '@vmdhcp/ippool-api/agent';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { createLogger, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { connectToCluster } from './connect-to-cluster.js';
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
  const cluster = await connectToCluster(options, 'give --pools FILE to serve a host without a cluster');
  const agent = new KubernetesAgent(
    { ...toClusterSettings(options, cluster), configs: parsed.configs, isolation, podAddress },
    logger,
  );
  await agent.start();
  const stop = () => void agent.stop();
  if (asked.aborted) stop();
  else asked.addEventListener('abort', stop, { once: true });
}

/** What the flags mean. */
export function toClusterSettings(
  options: ClusterServeOptions,
  cluster: ClusterConnection,
): Omit<KubernetesAgentSettings, 'configs' | 'isolation' | 'podAddress'> {
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
