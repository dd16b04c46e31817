import { type HostSubject, parseHostSubject } from '@vmdhcp/bare-metal/host-subject';
import { booleanOption } from '@vmdhcp/service-process';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { BindOptions } from '../actions/bind-host.js';
import { parseMachineAddress } from './parse-wake-target.js';

const BIND_EXAMPLES = `
Examples:
  vmdhcp-agent bind 10.0.0.5                          to the client that has the address, or had it last
  vmdhcp-agent bind 02:00:00:12:34:56                 the address that this client has
  vmdhcp-agent bind 10.0.0.5 --to 02:00:00:12:34:56   ... for another client, as after a board was replaced
  vmdhcp-agent bind 10.0.0.5 --cluster-agent rack-2 --json
  vmdhcp-agent bind 192.168.48.100 --state /var/lib/vmdhcp-agent   on a bare host: print the reservation for the pools file

It writes the annotation bmc.spidernet.io/bound-to of the HostStatus: no other client gets the address from then on, whatever enableBindDhcpIP of the ClusterAgent is. A client that has another address moves when it renews its lease.
If another client has a lease of the address, it ends when the new client asks and the host of the other one does not answer ARP.
Needs the rights to list and patch hoststatuses.bmc.spidernet.io.

Exit codes: 0 done, or it was so already, 1 no such host, or the client is bound elsewhere, 64 wrong usage, 66 there is no way to a cluster or no state there,
69 the cluster does not answer, 77 a right is missing.
`;

const UNBIND_EXAMPLES = `
Examples:
  vmdhcp-agent unbind 10.0.0.5
  vmdhcp-agent unbind 02:00:00:12:34:56 --json
  vmdhcp-agent unbind 10.0.0.5 --by-switch            leave it to enableBindDhcpIP of the ClusterAgent

The client keeps the address as long as it renews its lease. When the lease ends, the HostStatus goes, and other clients may get the address. Nothing is
restarted.

Exit codes: 0 done, or it was so already, 1 no such host, 64 wrong usage, 66 there is no way to a cluster or no state there,
69 the cluster does not answer, 77 a right is missing.
`;

/** `vmdhcp-agent bind` */
export function bindCommand(): Command {
  return hostCommand('bind', 'Bind the address of a bare-metal host to its client for good.')
    .addOption(
      new Option('--to <mac>', 'the client; default: the one that has the address, or had it last').argParser(
        parseMachineAddress,
      ),
    )
    .addHelpText('after', BIND_EXAMPLES)
    .action(async (host: HostSubject, options: BindOptions) => {
      const { bindHost } = await import('../actions/bind-host.js');
      await bindHost('bind', host, options);
    });
}

/** `vmdhcp-agent unbind` */
export function unbindCommand(): Command {
  return hostCommand('unbind', 'Bind the address of a bare-metal host to no client.')
    .addOption(booleanOption('--by-switch', 'remove the annotation: enableBindDhcpIP of the ClusterAgent decides'))
    .addHelpText('after', UNBIND_EXAMPLES)
    .action(async (host: HostSubject, { bySwitch, ...options }: BindOptions & { readonly bySwitch?: boolean }) => {
      const { bindHost } = await import('../actions/bind-host.js');
      await bindHost(bySwitch === true ? 'by-switch' : 'unbind', host, options);
    });
}

/** A command about one host. @param state - the help text of `--state`. */
export function hostCommand(
  name: string,
  description: string,
  state = 'a bare host: print what to change in the pools file, for a lease of this state directory',
): Command {
  return new Command(name)
    .description(description)
    .addArgument(
      new Argument('<address|mac>', 'IPv4 address of the host, or the MAC address of its client').argParser(parseSubject),
    )
    .option('--cluster-agent <name>', 'only hosts of this ClusterAgent; required if two management networks have the address')
    .option('--state <dir>', state)
    .addOption(
      new Option('--kubeconfig <file>', 'kubeconfig; default: $HOME/.kube/config, or the ServiceAccount of the pod').env(
        'KUBECONFIG',
      ),
    )
    .addOption(new Option('--kubecontext <name>', 'context of the kubeconfig').env('KUBECONTEXT'))
    .option('--json', 'print JSON');
}

function parseSubject(text: string): HostSubject {
  const subject = parseHostSubject(text);
  if (subject === undefined)
    throw new InvalidArgumentError('write an IPv4 address, as in 10.0.0.5, or a MAC address, as in 02:00:00:12:34:56.');
  return subject;
}
