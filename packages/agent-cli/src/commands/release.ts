import type { HostSubject } from '@vmdhcp/bare-metal/host-subject';
import type { Command } from 'commander';
import type { ReleaseOptions } from '../actions/release-lease.js';
import { hostCommand } from './bind.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent release 10.0.0.5                       a bare-metal host that is gone for good
  vmdhcp-agent release 02:00:00:12:34:56 --json
  vmdhcp-agent release 192.168.48.100 --state /var/lib/vmdhcp-agent   on a bare host: the lease of an unknown client

It ends a lease before its time: other clients may get the address at once, unless it is bound. The agent probes the address by ARP first, and a host that answers keeps
its lease: switch it off or unplug it. The command waits until the lease has ended, ten seconds at most.
For a ClusterAgent it writes the annotation bmc.spidernet.io/release-lease of the HostStatus, and needs the rights to get, list and patch hoststatuses.bmc.spidernet.io. With --state it asks
the agent that runs on this host.

Exit codes: 0 the lease has ended, or there was none, 1 the lease stays, or no such host, 64 wrong usage, 66 there is no way to a cluster or no state there,
69 the cluster or the agent does not answer, 77 a right is missing.
`;

/** `vmdhcp-agent release` */
export function releaseCommand(): Command {
  return hostCommand('release', 'End the lease of a host that is gone.', 'a bare host: ask the agent with this state directory')
    .addHelpText('after', EXAMPLES)
    .action(async (host: HostSubject, options: ReleaseOptions) => {
      const { releaseLease } = await import('../actions/release-lease.js');
      await releaseLease(host, options);
    });
}
