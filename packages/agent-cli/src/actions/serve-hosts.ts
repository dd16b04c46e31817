import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { clusterAgentNameProblems } from '@vmdhcp/bare-metal';
import { HostsProcess, type HostsProcessSettings } from '@vmdhcp/bare-metal/linux';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { CommandError, createLogger, ExitCode, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { connectToCluster } from './connect-to-cluster.js';
import { takeAgentCapabilities } from './take-agent-capabilities.js';

export interface HostsOptions {
  readonly clusterAgent?: string;
  readonly updateInterval: number;
  readonly leases: 'api' | 'directory';
  readonly state?: string;
  readonly namespace?: string;
  readonly podName?: string;
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
  readonly leaseSeconds: number;
  readonly leaderElection: boolean;
  readonly listen: ListenAddress | 'off';
  readonly logLevel: LogLevel;
  readonly podNetwork: 'own' | 'host';
  readonly logPackets?: boolean;
}

/** Follows one ClusterAgent until the process is told to end. @throws CommandError if it cannot start at all. */
export async function serveHosts(options: HostsOptions): Promise<void> {
  const names = checked(options);
  const logger = await createLogger(options.logLevel);
  takeAgentCapabilities({ serves: true, configures: true }, logger);
  const asked = stopSignal();
  const cluster = await connectToCluster(options);
  const agent = new HostsProcess(toHostsSettings(options, names, cluster), logger);
  await agent.start();
  const stop = () => void agent.stop();
  if (asked.aborted) stop();
  else asked.addEventListener('abort', stop, { once: true });
}

interface Names {
  readonly clusterAgent: string;
  readonly state: string;
}

/** What the flags mean. */
export function toHostsSettings(
  options: HostsOptions,
  { clusterAgent, state }: Names,
  cluster: ClusterConnection,
): HostsProcessSettings {
  return {
    clusterAgentName: clusterAgent,
    identity: `${options.podName || hostname()}_${randomUUID()}`,
    election: electionTimes(options.leaseSeconds),
    isAlone: !options.leaderElection,
    cluster,
    namespace: options.namespace || cluster.namespace,
    pollIntervalMs: options.updateInterval * 1000,
    statePath: state,
    http: options.listen === 'off' ? undefined : options.listen,
    podAddress: process.env['POD_IP'] || undefined,
    hasOwnNetwork: options.podNetwork === 'own',
    logPackets: options.logPackets === true,
  };
}

/** All problems of the command line. */
function checked({ clusterAgent, leases, state }: HostsOptions): Names {
  const problems = [
    ...(clusterAgent ? [] : ['the ClusterAgent is not named: give --cluster-agent NAME, or set CLUSTERAGENT_NAME']),
    ...(clusterAgent ? clusterAgentNameProblems(clusterAgent) : []).map(
      ({ message, remedy }) => `--cluster-agent: ${message}; ${remedy}`,
    ),
    ...(leases === 'directory' && !state ? ['--leases directory needs --state DIR'] : []),
    ...(leases === 'api' && state
      ? ['--state is for --leases directory; with --leases api leases are objects of the cluster']
      : []),
  ];
  if (problems.length > 0 || !clusterAgent) throw new CommandError(problems.join('\n'), ExitCode.usage);
  return { clusterAgent, state: state ?? '' };
}
