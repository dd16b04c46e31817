import { Command } from 'commander';
import type { PrintLeasesOptions } from '../actions/print-leases.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent leases                              ask the agent on this host
  vmdhcp-agent leases --agent 127.0.0.1:9067       ... that listens elsewhere (serve --http)
  vmdhcp-agent leases --state /var/lib/vmdhcp-agent  read what an agent saved, running or not
  vmdhcp-agent leases --json | jq -r '.[] | select(.state == "bound") | .address'

Exit codes: 0 ok, 66 no state there, 69 no agent answers.
`;

/** `vmdhcp-agent leases` */
export function leasesCommand(): Command {
  return new Command('leases')
    .description('List the leases of an agent: who has which address, and until when.')
    .option('--agent <host:port>', 'the HTTP address of a running agent', '127.0.0.1:8080')
    .option('--state <dir>', 'read the state directory instead of asking an agent; expiry times lag up to 30 s')
    .option('--pool <namespace/name>', 'only this pool')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: PrintLeasesOptions) => (await import('../actions/print-leases.js')).printLeases(options));
}
