import { Command, Option } from 'commander';
import type { WhyOptions } from '../actions/why.js';
import { auditNamespaceOption, readerOptions } from './inspect-options.js';
import { countOf } from './parse-count.js';

const EXAMPLES = `
Examples:
  kubectl vmdhcp why web
  kubectl vmdhcp why -n production db-0
  kubectl vmdhcp why production/db-0 --context rack-2
  kubectl vmdhcp why 192.168.48.17
  kubectl vmdhcp why 02:00:5e:10:00:01
  kubectl vmdhcp why web --watch
  kubectl vmdhcp why 192.168.48.17 -o name
  kubectl vmdhcp why web -o json | jq '.chain.interfaces[] | {interface, brokenAt}'

Shows each link of the way: virtual machine, interface, network, VirtualMachineNetworkConfig, pool, address, agents, their leader and its report,
what the leader saw of the client (only where the guest operating system does not report the address, and you may ask agents in their pods:
examples/cluster/packets.yaml), and what the guest operating system reports. A mark stands at the first broken link, with the reason and what to do.
A MAC address may have any spelling. A virtual machine whose name looks like an address: NAMESPACE/NAME.

Of an address that no client has, it names who had it last and why that ended, from the records of assignments (kubectl vmdhcp audit).

Of a bare-metal host: its ClusterAgent, the agents, its lease, its HostStatus, and whether its management controller answers.

wide: lines as long as they are, on a terminal too. name: the virtual machine, or the HostStatus, with the address or the MAC address.
With --watch, the exit code is that of the last answer; JSON has a line, and YAML a document, for each answer.

It reads a few objects by their names. Rights that you lack are listed, and the rest is shown.

Exit codes: 0 it has its address, 1 it has none or a link is broken, 64 wrong usage, 66 there is no way to a cluster, 69 the cluster does not
answer, 77 a right is missing to find out.
`;

/** `kubectl vmdhcp why` */
export function whyCommand(): Command {
  const command = new Command('why')
    .description('Why a virtual machine has its address, or none: every link of the way, the first broken one, and what to do.')
    .argument('<subject>', 'virtual machine (NAME or NAMESPACE/NAME), MAC address or IPv4 address (of a bare-metal host, too)')
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['text', 'wide', 'json', 'yaml', 'name']).default('text'),
    )
    .option('-w, --watch', 'repeat until Ctrl-C, and print the answer again when it changes')
    .addOption(new Option('--interval <seconds>', 'with --watch: how often to check').argParser(countOf(1)).default(2))
    .addOption(auditNamespaceOption())
    .addHelpText('after', EXAMPLES);
  for (const option of readerOptions()) command.addOption(option);
  return command.action(async (subject: string, options: WhyOptions) =>
    (await import('../actions/why.js')).why(subject, options),
  );
}
