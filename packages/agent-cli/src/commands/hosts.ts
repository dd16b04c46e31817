import { LEAST_LEASE_SECONDS } from '@vmdhcp/dhcp-agent/leadership-times';
import { booleanOption, LOG_LEVELS, parseListenAddress } from '@vmdhcp/service-process';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { HostsOptions } from '../actions/serve-hosts.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent hosts --cluster-agent rack-1
  CLUSTERAGENT_NAME=rack-1 HOST_STATUS_UPDATE_INTERVAL=30 vmdhcp-agent hosts --listen :8080
  vmdhcp-agent hosts --cluster-agent rack-1 --kubeconfig ~/.kube/config --leases directory --state /var/lib/vmdhcp-hosts

It is the agent of one ClusterAgent (bmc.spidernet.io/v1beta1): its DHCP server leases the addresses of ipRange to any client, each client becomes a HostStatus,
and hosts are polled over Redfish. The controller starts it in a Deployment. The object is followed: a change takes effect within a second, without a restart.
If it is changed to something that cannot be served, the settings before it stay in force.

Replicas agree on a leader by the Lease agent-CLUSTERAGENT in POD_NAMESPACE. Only the leader answers clients. It adds selfIp to the interface for a short time
at a time, beside the addresses that are there; no other address is changed.

It waits for what is missing, and needs no restart then: the ClusterAgent, its Secret, the interface, or that the interface is up. Meanwhile /readyz and the
log have every reason.

Needs CAP_NET_BIND_SERVICE, CAP_NET_RAW and CAP_NET_ADMIN.

Exit codes: 0 stopped by SIGTERM or SIGINT, 64 wrong usage, 66 there is no way to a cluster, 69 the address to listen on is in use.
`;

/** `vmdhcp-agent hosts` */
export function hostsCommand(): Command {
  return new Command('hosts')
    .description('Serve DHCP for bare-metal hosts as specified by a ClusterAgent, and keep an object for each host.')
    .addOption(new Option('--cluster-agent <name>', 'the ClusterAgent (required)').env('CLUSTERAGENT_NAME'))
    .addOption(
      new Option('--update-interval <seconds>', 'time between two polls of a host, 1 to 86400')
        .env('HOST_STATUS_UPDATE_INTERVAL')
        .argParser(parseSeconds(1, 86_400))
        .default(60),
    )
    .addOption(
      new Option('--leases <where>', 'where leases survive: in objects of the cluster, or in a directory')
        .choices(['api', 'directory'])
        .default('api'),
    )
    .option('--state <dir>', 'the directory of --leases directory; replicas share it')
    .addOption(
      new Option('--namespace <name>', 'namespace of the Lease; default: that of the ServiceAccount or the kubeconfig').env(
        'POD_NAMESPACE',
      ),
    )
    .addOption(new Option('--pod-name <name>', 'name of this replica in the Lease; default: the host name').env('POD_NAME'))
    .addOption(new Option('--kubeconfig <file>', 'kubeconfig; default: the ServiceAccount of the pod').env('KUBECONFIG'))
    .addOption(new Option('--kubecontext <name>', 'context of the kubeconfig').env('KUBECONTEXT'))
    .addOption(
      new Option('--lease-seconds <seconds>', 'how long the Lease of a leader lasts, after which another replica becomes leader')
        .argParser(parseSeconds(LEAST_LEASE_SECONDS, 3600))
        .default(10),
    )
    .addOption(booleanOption('--no-leader-election', 'there is no other replica: stay leader whatever happens'))
    .addOption(
      new Option(
        '--listen <host:port>',
        'address for /healthz, /readyz, /metrics and /leases, or "off"; only on the interface of the pod that has it',
      )
        .argParser(parseListenAddress)
        .default({ host: '::', port: 8080 }, ':8080'),
    )
    .addOption(
      new Option(
        '--pod-network <whose>',
        '"own": the network namespace is that of the agent alone, so nothing is forwarded from its interface to other networks; "host": forwarding is left as it is',
      )
        .choices(['own', 'host'])
        .env('AGENT_POD_NETWORK')
        .default('host'),
    )
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).env('LOG_LEVEL').default('info'))
    .addOption(booleanOption('--log-packets', 'log whole packets, decoded option by option'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: HostsOptions) => (await import('../actions/serve-hosts.js')).serveHosts(options));
}

function parseSeconds(least: number, most: number): (text: string) => number {
  return (text) => {
    const seconds = Number(text);
    if (!(text.trim() !== '' && seconds >= least && seconds <= most))
      throw new InvalidArgumentError(`write seconds, ${least} to ${most}.`);
    return seconds;
  };
}
