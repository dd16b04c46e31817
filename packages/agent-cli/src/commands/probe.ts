import type { DhcpProbe, ServerAnswer } from '@vmdhcp/dhcp-agent';
import { type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { SocketError } from '@vmdhcp/linux-sockets';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { Command, InvalidArgumentError, Option } from 'commander';
import { describeServerAnswer } from '../probe/describe-server-answer.js';
import { type InterfaceProbeSettings, openDhcpProbe } from '../probe/open-dhcp-probe.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent probe --interface eth1                  who answers DHCP here, and what does each server offer?
  vmdhcp-agent probe --interface eth1 --mac 52:54:00:12:34:56   ... to this client
  vmdhcp-agent probe --interface eth1 --request        take the first offer (the server counts it as a lease)
  vmdhcp-agent probe --interface eth1 --claim 192.168.48.77     claim an address, as a client does after a restart

The interface needs no address, and none is set. Needs CAP_NET_RAW.
Exit codes: 0 a server answered (with --request or --claim: acknowledged), 1 no server answered, or it refused,
69 the interface cannot be used.
`;

interface ProbeOptions {
  readonly interface: string;
  readonly mac?: MacAddress;
  readonly timeout: number;
  readonly request?: boolean;
  readonly claim?: string;
  readonly json?: boolean;
}

/** `vmdhcp-agent probe` */
export function probeCommand(): Command {
  return new Command('probe')
    .description('Ask who answers DHCP on an interface, and print what every server offers.')
    .requiredOption('--interface <iface>', 'where to ask')
    .option('--mac <address>', 'ask as this client; default: the hardware address of the interface', parseMac)
    .option('--timeout <seconds>', 'how long to wait for answers', parseSeconds, 3)
    .option('--request', 'request the address of the first offer')
    .addOption(
      new Option('--claim <address>', 'claim this address without asking for offers')
        .argParser(parseAddress)
        .conflicts('request'),
    )
    .option('--json', 'print the answers as JSON')
    .addHelpText('after', EXAMPLES)
    .action(probe);
}

async function probe(options: ProbeOptions): Promise<void> {
  const { interface: interfaceName, mac, timeout, json = false } = options;
  const client = open({ interfaceName, timeoutMs: timeout * 1000, ...(mac !== undefined && { macAddress: mac }) });
  try {
    const answers = await ask(client, options);
    if (json) process.stdout.write(`${JSON.stringify({ macAddress: client.macAddress, answers }, null, 2)}\n`);
    else
      process.stdout.write(
        answers.length === 0
          ? `no server answers ${client.macAddress} on ${interfaceName}\n`
          : answers.map(describeServerAnswer).join(''),
      );
    const last = answers.at(-1);
    const wanted = options.request || options.claim !== undefined ? last?.type === 'ack' : last !== undefined;
    if (!wanted) process.exitCode = ExitCode.failed;
  } finally {
    client.close();
  }
}

function open(settings: InterfaceProbeSettings): DhcpProbe {
  try {
    return openDhcpProbe(settings);
  } catch (error) {
    if (error instanceof SocketError) throw new CommandError(error.message, ExitCode.unavailable, { cause: error });
    throw error;
  }
}

async function ask(client: DhcpProbe, { request = false, claim }: ProbeOptions): Promise<ServerAnswer[]> {
  if (claim !== undefined) return only(await client.claim(claim));
  const offers = await client.discover(request);
  const [first] = offers;
  if (!request || first === undefined || first.type === 'ack') return offers;
  return [...offers, ...only(await client.request(first))];
}

function only(answer: ServerAnswer | undefined): ServerAnswer[] {
  return answer === undefined ? [] : [answer];
}

function parseMac(text: string): MacAddress {
  const mac = parseMacAddress(text);
  if (mac === undefined) throw new InvalidArgumentError('write it like 52:54:00:12:34:56.');
  return mac;
}

function parseAddress(text: string): string {
  if (parseIpv4Address(text) === undefined) throw new InvalidArgumentError('write an IPv4 address.');
  return text;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 60)) throw new InvalidArgumentError('give seconds, above 0 and up to 60.');
  return seconds;
}
