import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import { type ClusterConnection, connectByKubeConfig, connectInCluster, NoClusterError } from '@vmdhcp/kube-runtime/node';
import { CommandError, createLogger, ExitCode, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import { HostsProcess } from '../hosts/hosts-process.js';
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
  readonly logPackets?: boolean;
}

/** Follows one ClusterAgent until the process is asked to end. @throws CommandError where it cannot start at all. */
export async function serveHosts(options: HostsOptions): Promise<void> {
  const { clusterAgent, state } = checked(options);
  const logger = await createLogger(options.logLevel);
  takeAgentCapabilities({ serves: true, configures: true }, logger);
  const asked = stopSignal();
  const cluster = await connectToCluster(options);
  const agent = new HostsProcess(
    {
      clusterAgentName: clusterAgent,
      identity: `${options.podName || hostname()}_${randomUUID()}`,
      election: electionTimes(options.leaseSeconds),
      isAlone: !options.leaderElection,
      cluster,
      namespace: options.namespace || cluster.namespace,
      statePath: state,
      http: options.listen === 'off' ? undefined : options.listen,
      podAddress: process.env['POD_IP'] || undefined,
      logPackets: options.logPackets === true,
    },
    logger,
  );
  await agent.start();
  const stop = () => void agent.stop();
  if (asked.aborted) stop();
  else asked.addEventListener('abort', stop, { once: true });
}

/** Everything that is wrong with the command line, at once. */
function checked({ clusterAgent, leases, state }: HostsOptions): { readonly clusterAgent: string; readonly state: string } {
  const problems = [
    ...(clusterAgent ? [] : ['the ClusterAgent is not named: give --cluster-agent NAME, or set CLUSTERAGENT_NAME']),
    ...(leases === 'directory' && !state ? ['--leases directory needs --state DIR'] : []),
    ...(leases === 'api' && state
      ? ['--state is for --leases directory; with --leases api leases are objects of the cluster']
      : []),
  ];
  if (problems.length > 0 || !clusterAgent) throw new CommandError(problems.join('\n'), ExitCode.usage);
  return { clusterAgent, state: state ?? '' };
}

/** By the ServiceAccount of the pod, or by a kubeconfig. @throws CommandError where there is neither. */
export async function connectToCluster({
  kubeconfig,
  kubecontext,
}: Pick<HostsOptions, 'kubeconfig' | 'kubecontext'>): Promise<ClusterConnection> {
  try {
    const isThere = Boolean(kubeconfig) && existsSync(kubeconfig ?? '');
    if (!isThere && process.env['KUBERNETES_SERVICE_HOST']) return await connectInCluster(process.env);
    return await connectByKubeConfig({ ...(kubeconfig && { path: kubeconfig }), ...(kubecontext && { context: kubecontext }) });
  } catch (error) {
    if (!(error instanceof NoClusterError)) throw error;
    throw new CommandError(error.message, ExitCode.noInput, { cause: error });
  }
}
