import { MOST_CAPTURE_PACKETS, MOST_CAPTURE_SECONDS } from '@vmdhcp/agent-process/capture-bounds';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CapturePacketsOptions } from '../actions/capture-packets.js';
import { parseMachineAddress } from './parse-wake-target.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent capture --pool default/net-48                     a line for each packet, for 30 s
  vmdhcp-agent capture --pool net-48 --mac 02:00:00:00:48:01     ... of one client
  vmdhcp-agent capture --pool net-48 --write dhcp.pcapng --seconds 300 --packets 100000
  vmdhcp-agent capture --pool net-48 --write - | tcpdump -n -r -
  kubectl vmdhcp capture default/net-48 --write dhcp.pcapng      of the leader in a cluster, from your machine

It asks a running agent for the DHCP packets of a pool, received and sent, as they pass. A packet that gets no answer has the reason, in a comment of the
file too. Files are pcapng of IPv4 packets, without Ethernet headers: the agent's socket does not show these. Messages that clients broadcast
are shown to 255.255.255.255, all others to the address of the server.

It ends after --seconds or --packets, at SIGINT, or when its output is closed; with --until-input-ends also at the end of its standard input. Packets that are not taken fast enough are lost and counted; no client waits.

Exit codes: 0 ok, 64 wrong usage, 69 no agent answers, 73 the file cannot be written.
`;

/** `vmdhcp-agent capture` */
export function captureCommand(): Command {
  return new Command('capture')
    .description('Capture the DHCP packets of a pool of a running agent, with the outcome of each.')
    .requiredOption('--pool <namespace/name>', 'the pool')
    .option('--mac <mac>', 'only this client', parseMachineAddress)
    .addOption(
      new Option('--seconds <number>', `end after this many seconds, 1 to ${MOST_CAPTURE_SECONDS}`)
        .argParser(parseCount(MOST_CAPTURE_SECONDS))
        .default(30),
    )
    .addOption(
      new Option('--packets <number>', `end after this many packets, 1 to ${MOST_CAPTURE_PACKETS}`)
        .argParser(parseCount(MOST_CAPTURE_PACKETS))
        .default(1_000),
    )
    .option('--write <file>', 'write a pcapng file, which Wireshark and tcpdump read; -: to standard output')
    .option('--until-input-ends', 'also end when the standard input ends: this is how a command in a pod is told to end')
    .option('--decode', 'print a line for each packet even with --write FILE')
    .option(
      '--state <dir>',
      'the state directory of an agent on a bare host; default: the agent in this container, or /var/lib/vmdhcp-agent',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CapturePacketsOptions) => (await import('../actions/capture-packets.js')).capturePackets(options));
}

function parseCount(most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (!/^\d+$/.test(text) || count < 1 || count > most) throw new InvalidArgumentError(`write a number, 1 to ${most}.`);
    return count;
  };
}
