/** The commands that list: pools, leases, agents, Events. */
import { Command, Option } from 'commander';
import type { LeasesOptions } from '../actions/list.js';
import type { ListOptions } from '../actions/list-objects.js';
import { readerOptions } from './inspect-options.js';
import { parseMac } from './parse-mac.js';

const FORMATS = ['table', 'wide', 'json', 'yaml', 'name'];

const EXIT_CODES = `
With --watch, a row that is gone ends with "gone", and has "gone": true as JSON and YAML: a line of JSON, or a document of YAML, for each row.

Exit codes: 0 listed, 64 wrong usage, 66 there is no way to a cluster, 69 the cluster does not answer, 77 a right is missing.
`;

/** `kubectl vmdhcp pools` */
export function poolsCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp pools -A
  kubectl vmdhcp pools -A -o wide
  kubectl vmdhcp pools -A -o json | jq -r '.items[] | select(.free < 10) | .name'
  kubectl vmdhcp pools --watch
${EXIT_CODES}`;
  return listCommand('pools', 'List the pools: how many addresses are free, and whether agents serve them.', examples).action(
    async (options: ListOptions) => (await import('../actions/list.js')).listPools(options),
  );
}

/** `kubectl vmdhcp leases` */
export function leasesCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp leases -A
  kubectl vmdhcp leases --vm web
  kubectl vmdhcp leases --pool net-48 -A
  kubectl vmdhcp leases -A --mac 02-00-5E-10-00-01
  kubectl vmdhcp leases -A --network default/vlan-48 -o json

One row for each interface of a virtual machine, as its VirtualMachineNetworkConfig has it, and for each that awaits its MAC address; the latter
not with --watch.
${EXIT_CODES}`;
  return listCommand(
    'leases',
    'List the interfaces of virtual machines: address, MAC address, network, and why there is none.',
    examples,
  )
    .option('--vm <name>', 'of one virtual machine: NAME or NAMESPACE/NAME')
    .option('--pool <name>', 'of one pool: NAME or NAMESPACE/NAME of the IPPool')
    .option('--network <name>', 'of one network: NAME or NAMESPACE/NAME of the NetworkAttachmentDefinition')
    .addOption(new Option('--mac <address>', 'of one MAC address, in any spelling').argParser(parseMac))
    .action(async (options: LeasesOptions) => (await import('../actions/list.js')).listLeases(options));
}

/** `kubectl vmdhcp agents` */
export function agentsCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp agents
  kubectl vmdhcp agents -n vm-dhcp-agents -o wide
  kubectl vmdhcp agents --watch

One row for each pool that the leader of a group reports, in all namespaces unless one is named. A group counts where the status of an IPPool names
its namespace (status.agentDeploymentRef): each user who may write a Lease may write one with the same label.
${EXIT_CODES}`;
  return listCommand('agents', 'List the groups of agents: their leaders, and which pools they serve.', examples).action(
    async (options: ListOptions) => (await import('../actions/list.js')).listAgents(options),
  );
}

/** `kubectl vmdhcp events` */
export function eventsCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp events -A
  kubectl vmdhcp events --watch
  kubectl vmdhcp events -A -o json | jq -r '.items[].reason' | sort | uniq -c

With --watch, an Event whose time is over is left out in silence.
${EXIT_CODES}`;
  return listCommand('events', 'List the Events that the controller wrote, the newest last.', examples).action(
    async (options: ListOptions) => (await import('../actions/list.js')).listEvents(options),
  );
}

function listCommand(name: string, description: string, examples: string): Command {
  const command = new Command(name)
    .description(description)
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(FORMATS).default('table'))
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-w, --watch', 'keep running, and print each row that changes or is gone')
    .addHelpText('after', examples);
  for (const option of readerOptions()) command.addOption(option);
  return command;
}
