import { Command } from 'commander';
import type { ExportOptions } from '../actions/export-leases.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent export --isc --state-dir /var/lib/vmdhcp-agent > dhcpd.leases
  vmdhcp-agent export --isc --state-dir /var/lib/vmdhcp-agent --pool default/net-48 > dhcpd.leases

Stop the agent first: leases that it grants later are not in the file. dhcpd continues from the file: dhcpd -lf dhcpd.leases.

Exit codes: 0 ok, 64 wrong usage, 65 a line is no record or two pools have one address, 66 no bindings there.
`;

/** `vmdhcp-agent export` */
export function exportCommand(): Command {
  return new Command('export')
    .description('Print the bindings of unknown clients for another DHCP server.')
    .requiredOption('--isc', 'as a lease file of ISC dhcpd 4.4 (dhcpd.leases)')
    .requiredOption('--state-dir <dir>', 'state directory with the bindings')
    .option('--pool <name>', 'only this IPPool (NAMESPACE/NAME), or this ClusterAgent (NAME)')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ExportOptions) => (await import('../actions/export-leases.js')).exportLeases(options));
}
