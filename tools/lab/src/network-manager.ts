/**
 * The DHCP client of most Linux guests with a desktop, and of those of Red Hat and its relatives. It is not among the programs that every run needs: to install
 * it on a machine without containers would hand it that machine's network.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './lab.js';
import type { LabProcess } from './lab-process.js';

const NETWORK_MANAGER = '/usr/sbin/NetworkManager';
const BUS_CONFIGURATION = '/usr/share/dbus-1/system.conf';
/** dbus-daemon ends as root where it may not open so many files. */
const OPEN_FILES_OF_BUS = 65_536;

/** True where NetworkManager and the bus that it needs can run. */
export function hasNetworkManager(): boolean {
  if (!existsSync(NETWORK_MANAGER) || !existsSync(BUS_CONFIGURATION)) return false;
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' || Number(limit) >= OPEN_FILES_OF_BUS;
}

/** Starts NetworkManager in a machine, with a bus of its own, and a `/sys` as in a container, as there is no udev. */
export function startNetworkManager(machine: Machine): LabProcess {
  const folder = join(machine.folder, 'network-manager');
  mkdirSync(folder, { recursive: true });
  const [bus, configuration] = [join(folder, 'bus.conf'), join(folder, 'NetworkManager.conf')];
  writeFileSync(bus, busConfiguration(`unix:path=${folder}/bus`));
  writeFileSync(configuration, '[main]\nplugins=keyfile\nauth-polkit=false\nrc-manager=unmanaged\ndns=none\n');
  const commands = [
    'mount -o remount,ro,bind /sys',
    'mkdir -p /run/NetworkManager /var/lib/NetworkManager',
    'mount -t tmpfs tmpfs /run/NetworkManager',
    'mount -t tmpfs tmpfs /var/lib/NetworkManager',
    `export DBUS_SYSTEM_BUS_ADDRESS=unix:path=${folder}/bus`,
    `dbus-daemon --config-file=${bus} --fork`,
    `exec ${NETWORK_MANAGER} --debug --config ${configuration}`,
  ];
  return machine.start('sh', ['-ec', commands.join('; ')]);
}

/** The configuration of the system bus, for one user, who may do everything. */
function busConfiguration(address: string): string {
  const all = ['own="*"', 'send_destination="*"', 'receive_sender="*"', 'user="*"'].map((rule) => `<allow ${rule}/>`);
  return readFileSync(BUS_CONFIGURATION, 'utf8')
    .replaceAll(/<(user|servicehelper|pidfile|listen)>.*<\/\1>|<fork\/>/g, '')
    .replace('</busconfig>', `<listen>${address}</listen><policy context="default">${all.join('')}</policy></busconfig>`);
}
