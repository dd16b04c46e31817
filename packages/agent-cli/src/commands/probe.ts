import { type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ProbeOptions } from '../actions/ask-servers.js';

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

/** `vmdhcp-agent probe` */
export function probeCommand(): Command {
  return new Command('probe')
    .description('Find out who answers DHCP on an interface, and print what every server offers.')
    .requiredOption('--interface <iface>', 'where to send requests')
    .option('--mac <address>', 'send requests as this client; default: the hardware address of the interface', parseMac)
    .option('--timeout <seconds>', 'how long to wait for replies', parseSeconds, 3)
    .option('--request', 'request the address of the first offer')
    .addOption(
      new Option('--claim <address>', 'claim this address without requesting offers')
        .argParser(parseAddress)
        .conflicts('request'),
    )
    .option('--json', 'print the answers as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ProbeOptions) => (await import('../actions/ask-servers.js')).askServers(options));
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
