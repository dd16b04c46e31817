import { type MacAddress, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { WakeOptions } from '../actions/send-wake-up.js';
import { parseUdpPort } from './parse-udp-port.js';
import { parseMachineAddress, parsePassword } from './parse-wake-target.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent wake 52:54:00:12:34:56                          by broadcast, on the interface of the default route
  vmdhcp-agent wake 52-54-00-12-34-56 --interface eth1         ... on this interface
  vmdhcp-agent wake 5254.0012.3456 --to 192.0.2.11 --port 7    to one host
  vmdhcp-agent wake 52:54:00:12:34:56 --interface eth1 --raw   a frame without IP, EtherType 0x0842
  vmdhcp-agent wake 52:54:00:12:34:56 --password 00:22:44:66:88:aa --json

One packet is sent, and no answer comes back: exit code 0 means that the kernel sent it. --raw needs CAP_NET_RAW.
Exit codes: 0 sent, 64 wrong usage, 69 it cannot be sent.
`;

/** `vmdhcp-agent wake` */
export function wakeCommand(): Command {
  return new Command('wake')
    .description('Send a magic packet (Wake-on-LAN) for a machine.')
    .argument('<mac>', 'the MAC address of the machine, in any spelling', parseMachineAddress)
    .addOption(
      new Option('--to <address>', 'IPv4 address of a host or of a broadcast')
        .argParser(parseAddress)
        .default('255.255.255.255')
        .conflicts('raw'),
    )
    .option('--interface <iface>', 'send through this interface')
    .addOption(new Option('--port <number>', 'UDP port').argParser(parseUdpPort).default(9).conflicts('raw'))
    .option('--password <password>', 'SecureOn password: 00:22:44:66:88:aa or 192.168.1.1', parsePassword)
    .option('--raw', 'send an Ethernet frame without IP to every host; needs --interface, and takes no --to and no --port')
    .option('--json', 'print what was sent as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (macAddress: MacAddress, options: WakeOptions) =>
      (await import('../actions/send-wake-up.js')).sendWakeUp(macAddress, options),
    );
}

function parseAddress(text: string): string {
  if (parseIpv4Address(text) === undefined) throw new InvalidArgumentError('write an IPv4 address, as in 192.0.2.11.');
  return text;
}
