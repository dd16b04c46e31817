import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import {
  booleanOption,
  createLogger,
  ExitCode,
  type ListenAddress,
  LOG_LEVELS,
  type LogLevel,
  parseListenAddress,
  stopSignal,
} from '@vmdhcp/service-process';
import { Command, Option } from 'commander';
import { type ClusterOptions, clusterOptions, findCluster, openConnection } from '../run/connect.js';
import { ControllerProcess, type ControllerProcessSettings } from '../run/controller-process.js';
import { readElectionTimes } from '../run/election-times.js';
import { createMetrics } from '../run/metrics.js';
import { type AgentOptions, agentOptions, toAgents } from './agent-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller run --image registry.example.com/vmdhcp/vmdhcp-agent:v1
  vmdhcp-controller run --image registry.example.com/vmdhcp/vmdhcp-agent:v1 --agent-topology per-pool
  vmdhcp-controller run --agent-topology unified --agent-deployment my-agent --agent-container agent
  vmdhcp-controller run --kubeconfig ~/.kube/config --no-leader-election --no-agent --log-level debug
  vmdhcp-controller run --image IMAGE --enable-cache-dump-api    # then: curl 127.0.0.1:8080/caches/default/vlan-48 (a network)

Which pools share agents (--agent-topology):
  per-network  pools of one cluster network, at most --max-pools-per-agent; the controller makes a Deployment for each group
  per-pool     each pool has a Deployment of its own
  unified      all pools; a chart installed the one Deployment (--agent-deployment), the controller configures its pools
Changed at run time, pools move one by one, each when its new agents are ready.

Reads VirtualMachines, VirtualMachineInstances, VirtualMachineNetworkConfigs, IPPools and NetworkAttachmentDefinitions; writes
VirtualMachineNetworkConfigs, the status of IPPools, labels of NetworkAttachmentDefinitions, Events, and the agents'
Deployments and Leases. Unless --service-account-name is set, each group of agents has a ServiceAccount of its own, and Roles with
the rights to its own Lease and its own IPPools, and nothing else. Replicas elect a leader by the Lease
kube-system/vm-dhcp-controllers (CATTLE_ELECTION_LEASE_DURATION 15s, _RENEW_DEADLINE 10s, _RETRY_PERIOD 2s).

Exit codes: 0 stopped by SIGTERM or SIGINT, 1 leadership lost or the API server refused, 64 wrong usage, 66 no connection to a cluster,
69 the HTTP address is in use.
`;

interface RunOptions extends ClusterOptions, AgentOptions {
  readonly name: string;
  readonly http: ListenAddress | 'off';
  readonly leaderElection: boolean;
  readonly crds: boolean;
  readonly enableCacheDumpApi?: boolean;
  readonly logLevel: LogLevel;
  readonly debug?: boolean;
  readonly trace?: boolean;
}

/** `vmdhcp-controller run` */
export function runCommand(): Command {
  const command = new Command('run')
    .description('Give the virtual machines of a cluster their addresses.')
    .option('--only-namespace <namespace>', 'see objects of this namespace only; default: all')
    .addOption(booleanOption('--no-leader-election', 'run without a Lease: no other controller may run'))
    .addOption(booleanOption('--no-crds', 'do not apply the CustomResourceDefinitions'))
    .addOption(
      booleanOption(
        '--enable-cache-dump-api',
        'serve /ipams/ and /caches/, what the controller knows; agents that it deploys serve /leases',
      ),
    )
    .addOption(
      new Option('--http <host:port>', 'address for /healthz, /readyz and /metrics, or "off"')
        .argParser(parseListenAddress)
        .default({ host: '::', port: 8080 }, ':8080'),
    )
    .addOption(new Option('--name <name>', 'name in the log').env('VM_DHCP_CONTROLLER_NAME').default('vmdhcp-controller'))
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .option('--debug', 'same as --log-level debug; also VM_DHCP_CONTROLLER_DEBUG=true')
    .option('--trace', 'same as --log-level trace; also VM_DHCP_CONTROLLER_TRACE=true')
    .addHelpText('after', EXAMPLES);
  for (const option of [...agentOptions(), ...clusterOptions()]) command.addOption(option);
  return command.action(run);
}

async function run(options: RunOptions): Promise<void> {
  const logger = (await createLogger(logLevelOf(options))).child({ name: options.name });
  const asked = stopSignal();
  const metrics = createMetrics();
  const settings = toSettings(options);
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

function toSettings(options: RunOptions): ControllerProcessSettings {
  return {
    http: options.http,
    election: options.leaderElection ? readElectionTimes(process.env) : undefined,
    agents: toAgents(options),
    onlyNamespace: options.onlyNamespace,
    cacheDumps: options.enableCacheDumpApi === true,
    applyCrds: options.crds,
  };
}
