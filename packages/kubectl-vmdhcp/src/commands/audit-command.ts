import { Command, Option } from 'commander';
import type { AuditQueryOptions } from '../actions/audit.js';
import { auditNamespaceOption, readerOptions } from './inspect-options.js';

const EXAMPLES = `
Examples:
  kubectl vmdhcp audit 192.168.48.17 --at '2026-11-17 10:00'     # who had this address then?
  kubectl vmdhcp audit 192.168.48.17 --at 3d                     # three days ago
  kubectl vmdhcp audit 192.168.48.17                             # all that had it
  kubectl vmdhcp audit web --since 1w                            # addresses of a virtual machine
  kubectl vmdhcp audit 02:00:5e:10:00:01 -o wide
  kubectl vmdhcp audit --network default/vlan-48 --since 1h      # what changed on a network
  kubectl vmdhcp audit 192.168.48.17 --at 3d -o json | jq -r '.items[].virtualMachine'

A time is RFC 3339, "2026-11-17 10:00" in the time zone of this machine, or how long ago: 90m, 3d, 1w.
A time between two dots was not recorded exactly: what happened, happened between both.
The answer is never a guess: what the records do not tell is "not known", with a reason, and with those that may have had the address.

It reads ConfigMaps in the namespace of the agents (--audit-namespace), which name virtual machines of all namespaces.

Exit codes: 0 found, 1 not known or none found, 64 wrong usage, 66 there is no way to a cluster, 69 the cluster does not answer, 77 a right
is missing.
`;

/** `kubectl vmdhcp audit` */
export function auditCommand(): Command {
  const command = new Command('audit')
    .description('Who had which address when: assignments that have ended, and those that have not.')
    .argument('[subject]', 'IPv4 address, MAC address, or virtual machine (NAME or NAMESPACE/NAME); default: all')
    .option('--at <time>', 'who had it at this time')
    .option('--since <time>', 'only what had not ended at this time')
    .option('--network <name>', 'of one network: NAME or NAMESPACE/NAME of the NetworkAttachmentDefinition')
    .addOption(auditNamespaceOption())
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['table', 'wide', 'json', 'yaml', 'name']).default('table'),
    )
    .addHelpText('after', EXAMPLES);
  for (const option of readerOptions()) command.addOption(option);
  return command.action(async (subject: string | undefined, options: AuditQueryOptions) =>
    (await import('../actions/audit.js')).audit(subject, options),
  );
}
