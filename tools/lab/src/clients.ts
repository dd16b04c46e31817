/**
 * Real DHCP clients, each run so that it is quick and leaves nothing behind. All of them report to a script, which sets the
 * address and appends what it received to a file: leases are read from there.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from './deadline.js';
import type { Machine } from './lab.js';
import { run } from './lab.js';
import type { LabProcess } from './lab-process.js';

/** What a client received, in the client's own words for options. */
export interface ClientEvent {
  /** `bound`, `renew`, `nak`, ... in lower case, as the client calls it. */
  readonly event: string;
  readonly address: string | undefined;
  readonly values: Readonly<Record<string, string>>;
}

export type ClientName = 'udhcpc' | 'udhcpc -B' | 'dhclient' | 'dhcpcd';

/** A client that runs on a machine, and what it has reported. */
export interface RunningClient {
  readonly process: LabProcess;
  events(): ClientEvent[];
  /** The next event of one of these names that has not been waited for. */
  event(...names: readonly string[]): Promise<ClientEvent>;
}

/** Events that mean that a client has a lease. */
const BOUND = ['bound', 'reboot', 'renew', 'rebind'];

/** Asks for a lease once; returns what the client received. @throws Error if it got none. */
export async function acquire(client: ClientName, machine: Machine): Promise<ClientEvent> {
  const started = start(client, machine, { once: true });
  const { code } = await started.process.ended();
  const bound = started.events().findLast(({ event }) => BOUND.includes(event));
  if (bound === undefined || code !== 0)
    throw new Error(`${client} on ${machine.name} got no lease:\n${started.process.lines.join('\n')}`);
  return bound;
}

export interface ClientSettings {
  /** True: ends when it has a lease (dhclient: goes on in the background). */
  readonly once?: boolean;
  /** Further parameters of the client. */
  readonly parameters?: readonly string[];
  /** dhclient: further lines of its configuration. */
  readonly configuration?: string;
  /** The script refuses a lease, which makes dhclient decline it. */
  readonly refuses?: boolean;
}

/** Starts a client and returns at once. */
export function start(client: ClientName, machine: Machine, settings: ClientSettings = {}): RunningClient {
  const before = readEvents(machine).length;
  let waitedFor = before;
  const process = startProcess(client, machine, settings);
  const events = () => readEvents(machine).slice(before);
  return {
    process,
    events,
    async event(...names) {
      const index = await waitFor(`${client} on ${machine.name} to report ${names.join(' or ')}`, () => {
        const found = readEvents(machine).findIndex(({ event }, at) => at >= waitedFor && names.includes(event));
        return found < 0 ? undefined : found + 1;
      });
      waitedFor = index;
      return readEvents(machine)[index - 1] as ClientEvent;
    },
  };
}

function startProcess(client: ClientName, machine: Machine, settings: ClientSettings): LabProcess {
  switch (client) {
    case 'udhcpc':
    case 'udhcpc -B':
      return startUdhcpc(machine, client === 'udhcpc -B', settings);
    case 'dhclient':
      return startDhclient(machine, settings);
    case 'dhcpcd':
      return startDhcpcd(machine, settings);
  }
}

const OUTPUT = (machine: Machine) => join(machine.folder, 'events');

function readEvents(machine: Machine): ClientEvent[] {
  const path = OUTPUT(machine);
  if (!existsSync(path)) return [];
  // A block is complete once its closing line is there.
  const blocks = readFileSync(path, 'utf8').split('\n=== end\n').slice(0, -1);
  return blocks.map((block) => {
    const values = Object.fromEntries(block.split('\n').map((line) => splitOnce(line)));
    const event = (values['reason'] ?? values['event'] ?? '').toLowerCase();
    return { event, address: values['new_ip_address'] ?? values['ip'], values };
  });
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf('=');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

function writeScript(machine: Machine, name: string, body: string): string {
  const path = join(machine.folder, name);
  writeFileSync(path, `#!/bin/sh\n{ ${body}\nenv; echo "=== end"; } >> ${OUTPUT(machine)}\n`);
  chmodSync(path, 0o755);
  return path;
}

function startUdhcpc(machine: Machine, broadcast: boolean, { once = false, parameters = [] }: ClientSettings): LabProcess {
  const script = writeScript(
    machine,
    'udhcpc.script',
    `echo "event=$1"; case $1 in bound|renew) ip address replace $ip/$mask dev $interface;; deconfig) ip -4 address flush dev $interface;; esac`,
  );
  const asked = ['-O', 'search', '-O', 'staticroutes', '-O', 'mtu'];
  return machine.start('udhcpc', [
    ...['-i', 'eth0', '-f', '-t', '5', '-T', '1', '-A', '1', '-s', script, '-x', `hostname:${machine.name}`, ...asked],
    ...(once ? ['-n', '-q'] : []),
    ...(broadcast ? ['-B'] : []),
    ...parameters,
  ]);
}

const DHCLIENT_CONFIGURATION = `timeout 6; retry 1; reboot 2; initial-interval 2; backoff-cutoff 2; select-timeout 0;
option rfc3442-classless-static-routes code 121 = array of unsigned integer 8;
request subnet-mask, broadcast-address, routers, domain-name, domain-name-servers, domain-search, host-name,
  interface-mtu, rfc3442-classless-static-routes, ntp-servers, netbios-name-servers;
`;

/** The folder of a machine's dhclient. */
export function dhclientFiles(machine: Machine): {
  readonly leases: string;
  readonly pid: string;
  readonly configuration: string;
} {
  return {
    leases: join(machine.folder, 'dhclient.leases'),
    pid: join(machine.folder, 'dhclient.pid'),
    configuration: join(machine.folder, 'dhclient.conf'),
  };
}

function startDhclient(
  machine: Machine,
  { once = false, parameters = [], configuration = '', refuses = false }: ClientSettings,
): LabProcess {
  const files = dhclientFiles(machine);
  writeFileSync(files.configuration, `${DHCLIENT_CONFIGURATION}send host-name "${machine.name}";\n${configuration}`);
  const script = writeScript(
    machine,
    'dhclient.script',
    `case $reason in PREINIT) ip link set dev $interface up;;
BOUND|RENEW|REBIND|REBOOT) ${refuses ? 'exit 1' : 'ip address replace $new_ip_address/$new_subnet_mask dev $interface'};;
EXPIRE|FAIL|RELEASE|STOP) ip -4 address flush dev $interface;; esac`,
  );
  return machine.start('dhclient', [
    ...(once ? ['-1', '-q'] : ['-d']),
    ...['-4', '-cf', files.configuration, '-sf', script, '-pf', files.pid, '-lf', files.leases],
    ...parameters,
    'eth0',
  ]);
}

/** Ends the dhclient that `acquire` left in the background; it keeps its lease file and sends no RELEASE. */
export async function endDhclient(machine: Machine): Promise<void> {
  const { pid: path } = dhclientFiles(machine);
  if (!existsSync(path)) return;
  const pid = readFileSync(path, 'utf8').trim();
  run('kill', [pid]);
  await waitFor(`dhclient ${pid} to end`, () => !isRunning(pid));
  run('rm', ['-f', path]);
}

function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const DHCPCD_CONFIGURATION = `ipv4only
noipv4ll
noarp
nodelay
clientid
vendorclassid dhcpcd
option subnet_mask, routers, domain_name_servers, domain_name, domain_search, classless_static_routes, interface_mtu
option host_name, ntp_servers, broadcast_address
require dhcp_server_identifier
`;

/** dhcpcd knows interfaces, not machines: each gets folders of its own, and a passwd that keeps it in one process. */
function startDhcpcd(machine: Machine, { once = false, parameters = [] }: ClientSettings): LabProcess {
  const folders = { run: join(machine.folder, 'dhcpcd-run'), leases: join(machine.folder, 'dhcpcd-leases') };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  for (const folder of ['/run/dhcpcd', '/var/lib/dhcpcd']) mkdirSync(folder, { recursive: true });
  const passwd = join(machine.folder, 'passwd');
  writeFileSync(passwd, readFileSync('/etc/passwd', 'utf8').replace(/^.*dhcpcd.*\n/gm, ''));
  const configuration = join(machine.folder, 'dhcpcd.conf');
  writeFileSync(configuration, `${DHCPCD_CONFIGURATION}hostname ${machine.name}\n`);
  const script = writeScript(machine, 'dhcpcd.script', ':');
  const mounts = `mount --bind ${passwd} /etc/passwd; mount --bind ${folders.run} /run/dhcpcd; mount --bind ${folders.leases} /var/lib/dhcpcd`;
  const mode = once ? '-1 -q -t 6' : '-B -d';
  return machine.start('sh', [
    '-c',
    `${mounts}; exec dhcpcd -4 ${mode} -c ${script} -f ${configuration} ${parameters.join(' ')} eth0`,
  ]);
}
