import { booleanOption } from '@vmdhcp/service-process';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ImportOptions } from '../actions/import-leases.js';
import { addClusterAgentOptions } from './add-cluster-agent-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent import --isc /var/lib/dhcp/dhcpd.leases --pools pools.yaml                     what would be taken
  vmdhcp-agent import --isc dhcpd.leases --pools pools.yaml --state-dir /var/lib/vmdhcp-agent
  vmdhcp-agent import --isc dhcpd.leases --pool default/net-48 --json | jq '.problems'
  vmdhcp-agent import --isc dhcpd.leases --cluster-agent rack-1 --namespace vm-dhcp-agents     into a cluster, for bare-metal hosts

Stop dhcpd first: a file that is copied while it is written ends in the middle. Each lease is counted with what it became, and each problem has its line. A
broken file is not imported, unless --accept-problems is given. A state directory that has bindings is never changed, nor a ClusterAgent that has leases
or an agent that leads.

Exit codes: 0 ok, 1 no such ClusterAgent, 64 wrong usage, 65 the file is broken or the pools file has problems, 66 a file cannot be read or there is
no way to a cluster, 69 the cluster does not answer, 73 the state directory or the leases of the ClusterAgent cannot be written, are in use, or are there
already, 77 a right is missing.
`;

/** `vmdhcp-agent import` */
export function importCommand(): Command {
  const command = new Command('import')
    .description('Take over the leases of another DHCP server, and list what was taken and what was not.')
    .requiredOption('--isc <file>', 'lease file of ISC dhcpd 4.4 (dhcpd.leases)')
    .addOption(
      new Option('--pools <file>', 'YAML file of IPPools: each lease goes to the pool with its address').conflicts('pool'),
    )
    .addOption(
      new Option('--pool <name>', 'every lease goes to this IPPool (NAMESPACE/NAME), or to this ClusterAgent (NAME)').argParser(
        parsePoolName,
      ),
    )
    .option('--state-dir <dir>', 'write the bindings into this state directory, which must have none');
  return addClusterAgentOptions(command, {
    description: 'write the leases into the cluster, for the agents of this ClusterAgent',
    conflicts: ['pool', 'pools', 'stateDir'],
  })
    .addOption(booleanOption('--dry-run', 'write nothing'))
    .addOption(booleanOption('--accept-problems', 'import what could be read of a broken file'))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ImportOptions) => (await import('../actions/import-leases.js')).importLeases(options));
}

const NAME = '[a-z0-9]([-a-z0-9.]*[a-z0-9])?';
const POOL_NAME = new RegExp(`^${NAME}(/${NAME})?$`);

/** Bindings of an impossible pool would never be used. */
function parsePoolName(text: string): string {
  if (!POOL_NAME.test(text))
    throw new InvalidArgumentError('write NAMESPACE/NAME of an IPPool, as in default/net-48, or the NAME of a ClusterAgent.');
  return text;
}
