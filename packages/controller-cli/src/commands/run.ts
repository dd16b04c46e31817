import { booleanOption, LOG_LEVELS, parseListenAddress } from '@vmdhcp/service-process';
import { Command, Option } from 'commander';
import type { RunOptions } from '../actions/run-options.js';
import { type AgentOptions, agentOptions } from './agent-options.js';
import { type AuditOptions, auditOptions, toAudit } from './audit-options.js';
import { type BareMetalOptions, bareMetalOptions, toBareMetal } from './bare-metal-options.js';
import { type ClusterNetworkOptions, clusterNetworkOptions, toClusterNetworks } from './cluster-network-options.js';
import { clusterOptions } from './cluster-options.js';
import { type StatusPageOptions, statusPageOptions, toStatusPage } from './status-page-options.js';
import { toAgents } from './to-agents.js';
import { toWakeOnLan, type WakeOnLanOptions, wakeOnLanOptions } from './wake-on-lan-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller run --image registry.example.com/vmdhcp/vmdhcp-agent:v1
  vmdhcp-controller run --image registry.example.com/vmdhcp/vmdhcp-agent:v1 --agent-topology per-pool
  vmdhcp-controller run --agent-topology unified --agent-deployment my-agent --agent-container agent
  vmdhcp-controller run --kubeconfig ~/.kube/config --no-leader-election --no-agent --log-level debug
  vmdhcp-controller run --image IMAGE --wake-on-lan          # and magic packets start virtual machines, as WolConfigs allow
  vmdhcp-controller run --image IMAGE --bare-metal           # and bare-metal hosts have addresses, as ClusterAgents describe
  vmdhcp-controller run --image IMAGE --service-cidr 10.53.0.0/16 --pod-cidr 10.52.0.0/16    # warns of IPPools that overlap them
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

Exit codes: 0 stopped by SIGTERM or SIGINT, 1 leadership lost or the API server refused, 64 wrong usage, 66 there is no way to a cluster,
69 it does not answer, or the HTTP address is in use.
`;

/** `vmdhcp-controller run` */
export function runCommand(): Command {
  const command = new Command('run')
    .description('Give the virtual machines of a cluster their addresses.')
    .option('--only-namespace <namespace>', 'see objects of this namespace only; default: all')
    .addOption(booleanOption('--no-leader-election', 'run without a Lease: no other controller may run'))
    .addOption(booleanOption('--no-crds', 'do not apply the CustomResourceDefinitions'))
    .addOption(
      booleanOption(
        '--annotate-machines',
        'name the addresses of each VirtualMachine in its annotations, also for the list of Harvester: one more write for each',
      ),
    )
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
  for (const option of [
    ...agentOptions(),
    ...wakeOnLanOptions(),
    ...bareMetalOptions(),
    ...clusterNetworkOptions(),
    ...auditOptions(),
    ...statusPageOptions(),
    ...clusterOptions(),
  ])
    command.addOption(option);
  type Options = Omit<RunOptions, 'clusterNetworks' | 'wakeOnLan' | 'bareMetal' | 'audit' | 'statusPage'> &
    AgentOptions &
    WakeOnLanOptions &
    BareMetalOptions &
    ClusterNetworkOptions &
    AuditOptions &
    StatusPageOptions;
  return command.action(async (options: Options) => {
    const agents = toAgents(options);
    const [wakeOnLan, bareMetal, statusPage] = [toWakeOnLan(options), toBareMetal(options), toStatusPage(options)];
    const { runController } = await import('../actions/run-controller.js');
    const clusterNetworks = toClusterNetworks(options);
    await runController({ ...options, clusterNetworks, wakeOnLan, bareMetal, statusPage, audit: toAudit(options) }, agents);
  });
}
