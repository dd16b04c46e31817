import { Command, Option } from 'commander';
import type { MigrateOptions } from '../actions/migrate.js';
import { clusterOptions } from './cluster-options.js';
import { parseSeconds } from './parse-seconds.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller migrate --dry-run
  vmdhcp-controller migrate --backup before.json
  vmdhcp-controller migrate --back --backup before.json
  vmdhcp-controller migrate --dry-run --output json | jq .problems

Install vmdhcp-controller first: it waits while Harvester's controller is leader. The command lists every problem, then what it will do, and
changes nothing if there is a problem. It stops Harvester's controller and webhook, applies our definitions, and waits until each IPPool has
moved: the new agents are ready before the old one ends. Then it disables Harvester's add-on. Virtual machines keep their addresses.
--back goes the other way: our agents release their server addresses and answer clients that no server has answered, until Harvester's agents are ready.
You can end the command at any time and run it again: it continues from what it finds. It keeps an existing backup. A way back must not stay
unfinished for more than a week. If two runs overlap, the one that began last continues.

Exit codes: 0 done, nothing to do, or a dry run without problems; 1 there are problems, the API server refused, or a step takes too long;
64 wrong usage, 65 the file is not a backup, 66 there is no way to a cluster, or the backup cannot be read, 69 the cluster does not answer,
73 the backup cannot be written.
`;

/** `vmdhcp-controller migrate` */
export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description("Move a cluster from Harvester's vm-dhcp-controller to this one, or back.")
    .option('--dry-run', 'list problems and what would be done, and change nothing')
    .option('--back', "move back to Harvester's vm-dhcp-controller")
    .option(
      '--backup <file>',
      'where the objects are written before they change, and read for --back',
      'vmdhcp-migration-backup.json',
    )
    .option('--remove-leftovers', "delete what is left of Harvester's controller and belongs to no Helm release; not with --back")
    .option('--timeout <seconds>', 'how long to wait for a step', parseSeconds, 300)
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(['text', 'json']).default('text'))
    .addHelpText('after', EXAMPLES);
  for (const option of clusterOptions()) command.addOption(option);
  return command.action(async (options: MigrateOptions) => (await import('../actions/migrate.js')).migrate(options));
}
