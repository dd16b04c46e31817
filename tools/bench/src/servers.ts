/** The servers that are measured, each set up as its own documentation does for speed: no log per packet, no ping check. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENT_BIN, run, SYSTEM_PATH } from '@vmdhcp/lab';
import { addressOf, eachClient, macOf, SERVER_ADDRESS } from './served-network.js';

/** How to start a server; it serves the interface `srv0`. */
export interface Command {
  readonly command: string;
  readonly parameters: readonly string[];
}

export interface MeasuredServer {
  readonly name: string;
  /** What is to be installed for it. */
  readonly program: string;
  /** True: its first seconds are measured too, when all clients ask at once. */
  readonly measuresFirst: boolean;
  /** @param folder - an empty folder in memory for its files. */
  readonly prepare: (folder: string) => Command;
}

const ECHO = fileURLToPath(new URL('./echo-server.js', import.meta.url));

export const SERVERS: readonly MeasuredServer[] = [
  { name: 'vmdhcp-agent', program: process.execPath, measuresFirst: true, prepare: prepareAgent },
  { name: 'echo loop', program: process.execPath, measuresFirst: true, prepare: prepareEcho },
  { name: 'Kea, 10k reservations', program: 'kea-dhcp4', measuresFirst: true, prepare: prepareKea },
  { name: 'coredhcp', program: 'coredhcp', measuresFirst: true, prepare: prepareCoredhcp },
  { name: 'ISC dhcpd', program: 'dhcpd', measuresFirst: false, prepare: prepareDhcpd },
  { name: 'dnsmasq', program: 'dnsmasq', measuresFirst: false, prepare: prepareDnsmasq },
];

/** Where a program is, `PATH` and the places of system programs searched; undefined if nowhere. */
export function findProgram(program: string): string | undefined {
  try {
    return run('sh', ['-c', `PATH="$PATH:${SYSTEM_PATH}" command -v ${program}`]).trim();
  } catch {
    return undefined;
  }
}

function prepareAgent(folder: string): Command {
  const pools = join(folder, 'pools.yaml');
  writeFileSync(
    pools,
    [
      poolYaml('net', '10.77', [SERVER_ADDRESS, '10.77.0.10', '10.77.255.250']),
      ...eachClient((client) => machineYaml('net', client)),
    ].join('---\n'),
  );
  return {
    command: process.execPath,
    parameters: [
      AGENT_BIN,
      'serve',
      '--pools',
      pools,
      '--interface',
      'net=srv0',
      '--state',
      join(folder, 'state'),
      '--http',
      '127.0.0.1:8080',
    ],
  };
}

/** No DHCP server: what the kernel and Node leave to one. */
function prepareEcho(): Command {
  return { command: process.execPath, parameters: [ECHO, 'srv0'] };
}

/** An IPPool of a /16. The network is not asked before an address is given, as the servers beside it do not ask. */
export function poolYaml(name: string, prefix: string, [server, start, end]: readonly [string, string, string]): string {
  return `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata: { name: ${name}, namespace: default }
spec:
  networkName: default/${name}
  conflictProbe: Disabled
  ipv4Config:
    cidr: ${prefix}.0.0/16
    serverIP: ${server}
    router: ${prefix}.0.2
    dns: [${prefix}.0.2]
    leaseTime: 3600
    pool: { start: ${start}, end: ${end} }
`;
}

export function machineYaml(network: string, client: number): string {
  const name = `vm-${client.toString().padStart(6, '0')}`;
  return `apiVersion: network.harvesterhci.io/v1alpha1
kind: VirtualMachineNetworkConfig
metadata: { name: ${name}, namespace: default }
spec:
  vmName: ${name}
  networkConfigs: [{ networkName: default/${network}, macAddress: "${macOf(client)}" }]
`;
}

function prepareKea(folder: string): Command {
  const reservations = eachClient((client) => ({ 'hw-address': macOf(client), 'ip-address': addressOf(client) }));
  const path = join(folder, 'kea.json');
  const option = (name: string, data: string) => ({ name, data });
  const configuration = {
    Dhcp4: {
      'interfaces-config': { interfaces: ['srv0'], 're-detect': false },
      'lease-database': { type: 'memfile', persist: false },
      'multi-threading': { 'enable-multi-threading': false },
      'valid-lifetime': 3600,
      'echo-client-id': true,
      'match-client-id': false,
      'host-reservation-identifiers': ['hw-address'],
      subnet4: [
        {
          id: 1,
          subnet: '10.77.0.0/16',
          interface: 'srv0',
          pools: [],
          'option-data': [option('routers', '10.77.0.2'), option('domain-name-servers', '10.77.0.2')],
          reservations,
          'reservations-out-of-pool': true,
          'reservations-in-subnet': true,
        },
      ],
      loggers: [{ name: 'kea-dhcp4', severity: 'WARN', output_options: [{ output: join(folder, 'kea.log') }] }],
    },
  };
  writeFileSync(path, JSON.stringify(configuration));
  mkdirSync('/run/kea', { recursive: true });
  mkdirSync('/run/lock/kea', { recursive: true });
  return { command: 'env', parameters: [`KEA_LOCKFILE_DIR=${folder}`, `KEA_PIDFILE_DIR=${folder}`, 'kea-dhcp4', '-c', path] };
}

function prepareCoredhcp(folder: string): Command {
  const leases = join(folder, 'leases.txt');
  writeFileSync(leases, eachClient((client) => `${macOf(client)} ${addressOf(client)}\n`).join(''));
  const path = join(folder, 'coredhcp.yml');
  const plugins = [
    'lease_time: 3600s',
    `server_id: ${SERVER_ADDRESS}`,
    'dns: 10.77.0.2',
    'router: 10.77.0.2',
    'netmask: 255.255.0.0',
    `file: "${leases}"`,
  ];
  writeFileSync(path, `server4:\n  listen:\n    - "%srv0"\n  plugins:\n${plugins.map((plugin) => `    - ${plugin}\n`).join('')}`);
  return { command: findProgram('coredhcp') ?? 'coredhcp', parameters: ['-c', path, '-L', 'warning'] };
}

function prepareDhcpd(folder: string): Command {
  const path = join(folder, 'dhcpd.conf');
  const leases = join(folder, 'dhcpd.leases');
  writeFileSync(leases, '');
  writeFileSync(
    path,
    `ping-check off; default-lease-time 3600; max-lease-time 3600; authoritative;
subnet 10.77.0.0 netmask 255.255.0.0 { range 10.77.0.10 10.77.255.250; option routers 10.77.0.2; option domain-name-servers 10.77.0.2; }
`,
  );
  return {
    command: 'dhcpd',
    parameters: ['-4', '-f', '-q', '-cf', path, '-lf', leases, '-pf', join(folder, 'dhcpd.pid'), 'srv0'],
  };
}

function prepareDnsmasq(folder: string): Command {
  const hosts = join(folder, 'hosts');
  writeFileSync(hosts, eachClient((client) => `${macOf(client)},${addressOf(client)}\n`).join(''));
  return {
    command: 'dnsmasq',
    parameters: [
      ...['-d', '-C', '/dev/null', '-p', '0', '-i', 'srv0', '--bind-interfaces', '--leasefile-ro', '--no-ping', '--quiet-dhcp'],
      ...[
        '--dhcp-authoritative',
        '--dhcp-lease-max=20000',
        `--dhcp-hostsfile=${hosts}`,
        '--dhcp-range=10.77.0.10,10.77.255.250,255.255.0.0,3600',
      ],
      ...['--dhcp-option=3,10.77.0.2', '--dhcp-option=6,10.77.0.2'],
    ],
  };
}
