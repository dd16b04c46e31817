import { Command, Option } from 'commander';
import type { ExportOptions } from '../actions/export.js';
import { readerOptions } from './inspect-options.js';

const EXAMPLES = `
Examples:
  kubectl vmdhcp export -A > addresses.csv
  kubectl vmdhcp export -A --format kea > kea-dhcp4.json
  kubectl vmdhcp export --pool net-48 --format csv

csv: one line for each address that is assigned to an interface of a virtual machine or reserved, with its pool.
kea: a configuration of Kea DHCPv4 with a subnet for each pool, its options, and a reservation for each of these addresses: the way to serve the same
addresses without Kubernetes. NTP servers that are names, and boot files of single architectures, are left out.

Exit codes: 0 exported, 1 two pools have one subnet (kea), 64 wrong usage, 66 there is no way to a cluster, 69 the cluster does not answer,
77 a right is missing.
`;

/** `kubectl vmdhcp export` */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Print all assigned and reserved addresses, for other programs.')
    .addOption(new Option('--format <format>', 'how to print them').choices(['csv', 'kea']).default('csv'))
    .option('-A, --all-namespaces', 'pools of all namespaces')
    .option('--pool <name>', 'of one pool: NAME or NAMESPACE/NAME of the IPPool')
    .addHelpText('after', EXAMPLES);
  for (const option of readerOptions()) command.addOption(option);
  return command.action(async (options: ExportOptions) => (await import('../actions/export.js')).exportAddresses(options));
}
