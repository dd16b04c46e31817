import { Command } from 'commander';
import type { ClientsOptions } from '../actions/list-clients.js';
import { parseMachineAddress } from './parse-wake-target.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent clients                                   ask the agent in this container, or on this host
  vmdhcp-agent clients --mac 02:00:00:00:48:01           one client, with its last packets
  vmdhcp-agent clients --state /srv/dhcp --pool net-48   ... of an agent with this --state
  vmdhcp-agent clients --json | jq -r '.clients[] | select(.unanswered["unknown-client"]) | .mac'
  kubectl vmdhcp top                             of all agents of a cluster, from your machine

Since its start, the agent counts for each client how many messages of which type it sent, which replies it got, and why others got none; and it keeps
its last 8 packets. It keeps 12,288 clients that objects declare, 3,072 unknown clients with a lease, and 1,024 others. If there are more, those that were silent for longest
make room for clients of the same kind. If more than 32,000 packets arrive within a second, the rest is counted for its pool only.

Exit codes: 0 ok, 64 wrong usage, 69 no agent answers.
`;

/** `vmdhcp-agent clients` */
export function clientsCommand(): Command {
  return new Command('clients')
    .description('List what each client sent to a running agent, which answers it got, and why others got none.')
    .option(
      '--state <dir>',
      'the state directory of an agent on a bare host; default: the agent in this container, or /var/lib/vmdhcp-agent',
    )
    .option('--pool <namespace/name>', 'only this pool')
    .option('--mac <mac>', 'only this client, with its last packets', parseMachineAddress)
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ClientsOptions) => (await import('../actions/list-clients.js')).listClients(options));
}
