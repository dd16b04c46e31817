import { Command, Option } from 'commander';
import type { ExportOptions } from '../actions/export-leases.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent export --isc --state-dir /var/lib/vmdhcp-agent > dhcpd.leases
  vmdhcp-agent export --isc --state-dir /var/lib/vmdhcp-agent --pool default/net-48 > dhcpd.leases
  vmdhcp-agent export --isc --cluster-agent rack-1 --namespace vm-dhcp-agents > dhcpd.leases     of bare-metal hosts, out of a cluster

Stop the agent first (a ClusterAgent: agentYaml.replicas 0): leases that it grants later are not in the file. dhcpd continues from the file: dhcpd -lf dhcpd.leases.

Exit codes: 0 ok, 64 wrong usage, 65 a line is no record or two pools have one address, 66 no bindings there, they are not whole, or there is no way to a
cluster, 69 the cluster does not answer, 77 a right is missing.
`;

/** `vmdhcp-agent export` */
export function exportCommand(): Command {
  return new Command('export')
    .description('Print the bindings of unknown clients for another DHCP server.')
    .requiredOption('--isc', 'as a lease file of ISC dhcpd 4.4 (dhcpd.leases)')
    .option('--state-dir <dir>', 'state directory with the bindings')
    .option('--pool <name>', 'only this IPPool (NAMESPACE/NAME), or this ClusterAgent (NAME)')
    .addOption(
      new Option('--cluster-agent <name>', 'the leases that the agents of this ClusterAgent keep in the cluster').conflicts([
        'pool',
        'stateDir',
      ]),
    )
    .addOption(new Option('--namespace <name>', 'with --cluster-agent: the namespace of the agents').env('POD_NAMESPACE'))
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'with --cluster-agent: kubeconfig; default: $HOME/.kube/config, or the ServiceAccount of the pod',
      ).env('KUBECONFIG'),
    )
    .addOption(new Option('--kubecontext <name>', 'context of the kubeconfig').env('KUBECONTEXT'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: ExportOptions) => (await import('../actions/export-leases.js')).exportLeases(options));
}
