import { Command } from 'commander';
import type { ExportLeasesOptions } from '../actions/export-leases.js';
import { addClusterAgentOptions } from './add-cluster-agent-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent export --isc --state-dir /var/lib/vmdhcp-agent > dhcpd.leases
  vmdhcp-agent export --isc --state-dir /var/lib/vmdhcp-agent --pool default/net-48 > dhcpd.leases
  vmdhcp-agent export --isc --cluster-agent rack-1 --namespace vm-dhcp-agents > dhcpd.leases     of bare-metal hosts, out of a cluster

Stop the agent first (a ClusterAgent: agentYaml.replicas 0): leases that it grants later are not in the file. dhcpd continues from the file: dhcpd -lf dhcpd.leases.

Exit codes: 0 ok, 64 wrong usage, 65 a line is not a record or two pools have one address, 66 there are no bindings, they are incomplete, or there is no way to a
cluster, 69 the cluster does not answer, 77 a right is missing.
`;

/** `vmdhcp-agent export` */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Print the bindings of unknown clients for another DHCP server.')
    .requiredOption('--isc', 'as a lease file of ISC dhcpd 4.4 (dhcpd.leases)')
    .option('--state-dir <dir>', 'state directory with the bindings')
    .option('--pool <name>', 'only this IPPool (NAMESPACE/NAME), or this ClusterAgent (NAME)');
  return addClusterAgentOptions(command, {
    description: 'the leases that the agents of this ClusterAgent keep in the cluster',
    conflicts: ['pool', 'stateDir'],
  })
    .addHelpText('after', EXAMPLES)
    .action(async (options: ExportLeasesOptions) => (await import('../actions/export-leases.js')).exportLeases(options));
}
