/** The commands that change a cluster. */
import { Command, Option } from 'commander';
import type { PinOptions } from '../actions/pin.js';
import type { WriteOptions } from '../actions/write-object.js';
import { readerOptions } from './inspect-options.js';

const EXIT_CODES = `
json and yaml have result (done, dry-run or nothing-to-do), message, object and namespace. name: the object that is written.

Exit codes: 0 done, nothing to do, or a dry run of what can be done; 1 refused, as the message explains; 64 wrong usage, 66 there is no way to a
cluster, 69 the cluster does not answer, 77 a right is missing.
`;

/** `kubectl vmdhcp pin` */
export function pinCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp pin web default 192.168.48.20 --dry-run
  kubectl vmdhcp pin production/db-0 default 192.168.48.21
  kubectl vmdhcp pin web default --remove

Writes the annotation static-ip.harvesterhci.io/INTERFACE of the virtual machine; the controller assigns the address, and the guest operating system
gets it when it asks again: \`kubectl vmdhcp renew\`, or at a restart. Refused where another client has the address, or it can never be leased.
${EXIT_CODES}`;
  return writeCommand('pin', 'Assign one particular address to an interface of a virtual machine.', examples)
    .argument('<vm>', 'virtual machine: NAME or NAMESPACE/NAME')
    .argument('<interface>', 'its name in the virtual machine')
    .argument('[address]', 'IPv4 address')
    .option('--remove', 'remove the annotation instead: the interface keeps its address, and may get another one later')
    .action(async (...[machine, interfaceName, address, options]: PinWords) =>
      (await import('../actions/pin.js')).pin({ machine, interfaceName, address }, options),
    );
}

type PinWords = [machine: string, interfaceName: string, address: string | undefined, options: PinOptions];

/** `kubectl vmdhcp release` */
export function releaseCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp release 192.168.48.17 --dry-run     # ends its quarantine, or frees it from a virtual machine that is gone
  kubectl vmdhcp release production/old-vm

Of a virtual machine that was deleted without its VirtualMachineNetworkConfig, it deletes that object; of a quarantined address it ends the
quarantine; of an entry that cannot be read it removes the entry. It refuses whatever a virtual machine still needs.
${EXIT_CODES}`;
  return writeCommand('release', 'Free an address that no virtual machine needs.', examples)
    .argument('<subject>', 'IPv4 address, or virtual machine (NAME or NAMESPACE/NAME)')
    .action(async (subject: string, options: WriteOptions) => (await import('../actions/release.js')).release(subject, options));
}

/** `kubectl vmdhcp renew` */
export function renewCommand(): Command {
  const examples = `
Examples:
  kubectl vmdhcp renew web default
  kubectl vmdhcp renew production/db-0 default --dry-run

Switches the link of the interface off in the virtual machine (spec.template.spec.domain.devices.interfaces[].state), waits until KubeVirt reports
it, and switches it on after seven seconds: then the guest operating system asks, and gets its current address and options, if its DHCP client watches
the link (dhclient alone does not). Without this, a guest uses its former ones until it renews its lease. Meanwhile the interface is off the network:
probes of the virtual machine may fail. Needs KubeVirt 1.5 and a virtual machine that runs. If the command is interrupted, it switches the link on
first, so do not run it where the API server is reached through that interface.
${EXIT_CODES}`;
  return writeCommand('renew', 'Make the guest operating system of a virtual machine ask for its address again.', examples)
    .argument('<vm>', 'virtual machine: NAME or NAMESPACE/NAME')
    .argument('<interface>', 'its name in the virtual machine')
    .action(async (...[machine, interfaceName, options]: RenewWords) =>
      (await import('../actions/renew.js')).renew({ machine, interfaceName }, options),
    );
}

type RenewWords = [machine: string, interfaceName: string, options: WriteOptions];

function writeCommand(name: string, description: string, examples: string): Command {
  const command = new Command(name)
    .description(description)
    .option('--dry-run', 'print what would be written, and write nothing')
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(['text', 'json', 'yaml', 'name']).default('text'))
    .addHelpText('after', examples);
  for (const option of readerOptions()) command.addOption(option);
  return command;
}
