/** The commands that query agents in their pods: they need the right to execute commands there. */
import { Command, Option } from 'commander';
import type { CaptureOptions } from '../actions/capture.js';
import type { TopOptions } from '../actions/top.js';
import { readerOptions } from './inspect-options.js';
import { countOf } from './parse-count.js';
import { parseMac } from './parse-mac.js';

const RIGHTS = `
Agents are asked in their pods, as kubectl exec does: that needs the verbs get and create on pods/exec in the namespace of the agents, which is a
strong right. examples/cluster/packets.yaml has it as a Role of its own.
`;

/** `kubectl vmdhcp top` */
export function topCommand(): Command {
  const command = new Command('top')
    .description('Packets and refusals of each pool, and the clients that send most, as the leaders of the agents count them.')
    .option('--pool <name>', 'of one pool: NAME or NAMESPACE/NAME of the IPPool; default: all')
    .addOption(
      new Option('--sort <order>', 'what comes first').choices(['packets', 'refusals', 'last', 'name']).default('packets'),
    )
    .addOption(
      new Option('--limit <number>', 'the largest number of clients; 0 for pools only').argParser(countOf(0)).default(20),
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print it').choices(['table', 'wide', 'json', 'yaml', 'name']).default('table'),
    )
    .option('-w, --watch', 'repeat until Ctrl-C')
    .addOption(new Option('--interval <seconds>', 'with --watch: how often').argParser(countOf(1)).default(5))
    .addHelpText(
      'after',
      `
Examples:
  kubectl vmdhcp top
  kubectl vmdhcp top --sort refusals
  kubectl vmdhcp top --pool default/net-48 --limit 5 --watch
  kubectl vmdhcp top -o json | jq -r '.clients[] | select(.refusals > 100) | .macAddress'

Agents count since they started. REFUSED: packets without an answer, or with a NAK; REASON has the most frequent reason.
An agent that cannot be asked is a row with the reason.
${RIGHTS}
Exit codes: 0 listed, 1 no agent reports the pool, 64 wrong usage, 66 there is no way to a cluster, 69 the cluster does not answer, 77 a right is
missing.
`,
    );
  for (const option of readerOptions()) command.addOption(option);
  return command.action(async (options: TopOptions) => (await import('../actions/top.js')).top(options));
}

/** `kubectl vmdhcp capture` */
export function captureCommand(): Command {
  const command = new Command('capture')
    .description('Packets of a pool, as the leader of its agents captures them: as lines, or as a file for Wireshark.')
    .argument('<pool>', 'NAME or NAMESPACE/NAME of the IPPool')
    .option('--write <file>', 'write a pcapng file; `-`: to the standard output, for a pipe')
    .addOption(
      new Option('--seconds <number>', 'end after this many seconds, 3600 at most').argParser(countOf(1, 3_600)).default(30),
    )
    .addOption(
      new Option('--packets <number>', 'end after this many packets, 1000000 at most').argParser(countOf(1)).default(1000),
    )
    .addOption(new Option('--mac <address>', 'of one client, in any spelling').argParser(parseMac))
    .addHelpText(
      'after',
      `
Examples:
  kubectl vmdhcp capture net-48                                       # decoded, line by line
  kubectl vmdhcp capture default/net-48 --mac 02:00:5e:10:00:01 --seconds 120
  kubectl vmdhcp capture net-48 --write net-48.pcapng
  kubectl vmdhcp capture net-48 --write - | wireshark -k -i -

DHCP packets of the pool as the agent gets and sends them, with the reason where one gets no answer. Ctrl-C ends it here and in the pod; the file is complete wherever it ends.
${RIGHTS}
Exit codes: 0 captured, 1 no agent reports the pool, 64 wrong usage, 66 there is no way to a cluster, 69 the cluster or the agent does not answer,
73 the file cannot be written, 77 a right is missing.
`,
    );
  for (const option of readerOptions()) command.addOption(option);
  return command.action(async (pool: string, options: CaptureOptions) =>
    (await import('../actions/capture.js')).capture(pool, options),
  );
}
