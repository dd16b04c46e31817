/** Servers that lease addresses to clients they do not know, and record each lease on the disk. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_BIN } from '@vmdhcp/lab';
import { SERVER_ADDRESS } from './served-network.js';
import type { Command } from './servers.js';

const RANGE = ['10.77.0.10', '10.77.255.250'] as const;
const OPTION_ADDRESS = '10.77.0.2';

export interface LeaseServer {
  readonly name: string;
  readonly program: string;
  /** What it has on the disk before the ACK leaves. */
  readonly durability: string;
  /** @param folder - on a disk. */
  readonly prepare: (folder: string) => Command;
}

export const LEASE_SERVERS: readonly LeaseServer[] = [
  { name: 'vmdhcp-agent', program: process.execPath, durability: 'flushed (fdatasync, in groups)', prepare: prepareAgent },
  { name: 'Kea, memfile', program: 'kea-dhcp4', durability: 'written, not flushed', prepare: prepareKea },
  { name: 'ISC dhcpd', program: 'dhcpd', durability: 'flushed (fsync, ACKs delayed in groups)', prepare: prepareDhcpd },
];

/** Prepares the agent, which serves the same folder again after it ended. */
export function prepareAgent(folder: string): Command {
  const pools = join(folder, 'pools.yaml');
  writeFileSync(
    pools,
    `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata: { name: net, namespace: default }
spec:
  networkName: default/net
  conflictProbe: Disabled
  ipv4Config:
    cidr: 10.77.0.0/16
    serverIP: ${SERVER_ADDRESS}
    router: ${OPTION_ADDRESS}
    dns: [${OPTION_ADDRESS}]
    leaseTime: 3600
    pool: { start: 10.77.0.3, end: 10.77.0.9 }
    dynamic: [${RANGE[0]}-${RANGE[1]}]
`,
  );
  const state = join(folder, 'state');
  const where = ['--pools', pools, '--interface', 'net=srv0', '--state', state, '--http', '127.0.0.1:8080'];
  return { command: process.execPath, parameters: [AGENT_BIN, 'serve', ...where] };
}

function prepareKea(folder: string): Command {
  const path = join(folder, 'kea.json');
  const option = (name: string) => ({ name, data: OPTION_ADDRESS });
  const configuration = {
    Dhcp4: {
      'interfaces-config': { interfaces: ['srv0'], 're-detect': false },
      'lease-database': { type: 'memfile', persist: true, name: join(folder, 'leases.csv'), 'lfc-interval': 3600 },
      'multi-threading': { 'enable-multi-threading': false },
      'valid-lifetime': 3600,
      subnet4: [
        {
          ...{ id: 1, subnet: '10.77.0.0/16', interface: 'srv0', pools: [{ pool: RANGE.join('-') }] },
          'option-data': [option('routers'), option('domain-name-servers')],
        },
      ],
      loggers: [{ name: 'kea-dhcp4', severity: 'WARN', output_options: [{ output: join(folder, 'kea.log') }] }],
    },
  };
  writeFileSync(path, JSON.stringify(configuration));
  for (const needed of ['/run/kea', '/run/lock/kea']) mkdirSync(needed, { recursive: true });
  return { command: 'env', parameters: [`KEA_LOCKFILE_DIR=${folder}`, `KEA_PIDFILE_DIR=${folder}`, 'kea-dhcp4', '-c', path] };
}

function prepareDhcpd(folder: string): Command {
  const [path, leases] = [join(folder, 'dhcpd.conf'), join(folder, 'dhcpd.leases')];
  writeFileSync(leases, '');
  writeFileSync(
    path,
    `ping-check off; default-lease-time 3600; max-lease-time 3600; authoritative;
subnet 10.77.0.0 netmask 255.255.0.0 { range ${RANGE.join(' ')}; option routers ${OPTION_ADDRESS}; option domain-name-servers ${OPTION_ADDRESS}; }
`,
  );
  return {
    command: 'dhcpd',
    parameters: ['-4', '-f', '-q', '-cf', path, '-lf', leases, '-pf', join(folder, 'dhcpd.pid'), 'srv0'],
  };
}
