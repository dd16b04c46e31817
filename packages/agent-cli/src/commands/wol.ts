import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { booleanOption, LOG_LEVELS, parseListenAddress } from '@vmdhcp/service-process';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { WolOptions } from '../actions/listen-for-wake-ups.js';
import { parseUdpPort } from './parse-udp-port.js';
import { parseMachineAddress, parsePassword } from './parse-wake-target.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent wol                                             log who is woken
  vmdhcp-agent wol --mac 52:54:00:12:34:56 --exec 'virsh start vm-a'
  vmdhcp-agent wol --exec './wake.sh "$WOL_MAC"'               for every machine
  vmdhcp-agent wol --manager vm-dhcp-wake-on-lan.vm-dhcp-system.svc:9090 --tls-dir /tls --node-name node-1
  vmdhcp-agent wol --interface 'mgmt-*' --interface '!*.100' --port 9 --no-frames

It listens on every UDP port given, and for frames with EtherType 0x0842, on each interface that the patterns choose. By default these are the
interfaces with a network outside of the host: cards, bonds, bridges and VLANs, not their ports, and not those of containers and virtual machines.
A whole name chooses any interface. A UDP port that is taken and an interface that disappears are logged and tried again; the others go on.

The command runs in a shell with WOL_MAC, WOL_SENDER, WOL_INTERFACE and WOL_LISTENER. If it fails, the next packet is a wake-up again. Without
--mac every host of the network can have it run: twenty times a second at most, twice a second for each sender.

With --manager, the manager decides what each wake-up starts. A wake-up is reported again until the manager that leads has answered, or two minutes
are over. The manager sends the list of machines that may be woken; packets for others are ignored. Machines that only a WolConfig with a password
allows are in the list where --password-secret names that password. --exec and --manager exclude each other.

/healthz fails when no listener works, /readyz when one does not, or no manager answers. Needs CAP_NET_BIND_SERVICE for UDP ports below 1024 and CAP_NET_RAW for frames.
Exit codes: 0 stopped by SIGTERM or SIGINT, 64 wrong usage, 69 the HTTP address is in use.
`;

/** `vmdhcp-agent wol` */
export function wolCommand(): Command {
  return new Command('wol')
    .description('Listen for magic packets (Wake-on-LAN), and log or run a command for each wake-up.')
    .addOption(
      new Option('--interface <pattern>', 'name, pattern with * and ?, or !pattern to leave some out; give it once for each')
        .argParser(collectPattern)
        .default([], 'every interface with a network outside'),
    )
    .addOption(new Option('--port <number>', 'UDP port; give it once for each').argParser(collectPort).default([7, 9], '7 and 9'))
    .addOption(booleanOption('--no-frames', 'listen on UDP ports only'))
    .addOption(booleanOption('--promiscuous', 'receive frames for other hosts too'))
    .addOption(new Option('--mac <address>', 'only for this machine; give it once for each').argParser(collectMachine))
    .addOption(
      new Option('--password <password>', 'ignore packets without this SecureOn password')
        .argParser(parsePassword)
        .env('VMDHCP_WOL_PASSWORD'),
    )
    .addOption(
      new Option(
        '--password-secret <secret/key>',
        'with --manager: name of this password, as spec.passwordSecret of WolConfigs has it',
      )
        .argParser(parsePasswordSecret)
        .env('VMDHCP_WOL_PASSWORD_SECRET'),
    )
    .addOption(new Option('--exec <command>', 'run this for each wake-up').argParser(parseCommand).conflicts('manager'))
    .addOption(
      new Option('--manager <host:port>', 'in a cluster: report each wake-up to the manager at this address').argParser(
        parseManager,
      ),
    )
    .option('--tls-dir <directory>', 'certificate for the manager: tls.crt, tls.key and ca.crt, read again when they change')
    .addOption(
      booleanOption('--clear-text', 'report to the manager without TLS: any host can then answer for it').conflicts('tlsDir'),
    )
    .addOption(new Option('--node-name <name>', 'name of this node in reports').env('NODE_NAME'))
    .option('--window <seconds>', 'packets within this time after the first one are the same wake-up', parseSeconds, 10)
    .addOption(
      new Option('--http <host:port>', 'address for /healthz, /readyz and /metrics, or "off"')
        .argParser(parseListenAddress)
        .default({ host: '127.0.0.1', port: 8082 }, '127.0.0.1:8082'),
    )
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: WolOptions) => (await import('../actions/listen-for-wake-ups.js')).listenForWakeUps(options));
}

function parseManager(text: string): string {
  const [, port] = /^(?:\[[0-9a-fA-F:.]+\]|[-.A-Za-z0-9]+):([1-9]\d{0,4})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('write host:port, with a port from 1 to 65535.');
  return text;
}

function parseCommand(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('write a command of the shell, or leave --exec out to log wake-ups only.');
  return text;
}

function parsePasswordSecret(text: string): string {
  if (!/^[-.a-z0-9]{1,253}\/[-._A-Za-z0-9]{1,253}$/.test(text))
    throw new InvalidArgumentError('write the name of a Secret and a key, as in wake-password/password.');
  return text;
}

function collectPattern(text: string, previous: readonly string[] = []): string[] {
  if (!/^!?[^\s/!]{1,15}$/.test(text)) throw new InvalidArgumentError('write the name of an interface, or a pattern as in eth*.');
  return [...previous, text];
}

/** The first value replaces the default. */
function collectPort(text: string, previous: readonly number[]): readonly number[] {
  const port = parseUdpPort(text);
  const before = given.has(previous) ? previous : [];
  const ports = before.includes(port) ? before : [...before, port];
  given.add(ports);
  return ports;
}

const given = new WeakSet<readonly number[]>();

function collectMachine(text: string, previous: readonly MacAddress[] = []): MacAddress[] {
  return [...previous, parseMachineAddress(text)];
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= 3600)) throw new InvalidArgumentError('write seconds, 1 to 3600.');
  return seconds;
}
