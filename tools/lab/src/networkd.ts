/** The DHCP client of most Linux guests that are installed from cloud images. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './lab.js';
import type { LabProcess } from './lab-process.js';
import { NETWORKD } from './real-program.js';

const ACCOUNT = 'systemd-network';

/** Starts systemd-networkd in a machine. It has accounts of its own, as only root is mapped here, and a `/sys` as in a container, as there is no udev. */
export function startNetworkd(machine: Machine, dhcp: 'ipv4' | 'yes' = 'ipv4'): LabProcess {
  const folder = join(machine.folder, 'networkd');
  mkdirSync(join(folder, 'configuration'), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('configuration/eth0.network', `[Match]\nName=eth0\n[Network]\nDHCP=${dhcp}\n`);
  write('passwd', `root:x:0:0::/:/bin/sh\n${ACCOUNT}:x:0:0::/:/bin/sh\n`);
  write('group', `root:x:0:\n${ACCOUNT}:x:0:\n`);
  const mounts = [
    'mkdir -p /etc/systemd/network /run/systemd',
    `mount --bind ${folder}/configuration /etc/systemd/network`,
    'mount -t tmpfs tmpfs /run/systemd',
    'mkdir /run/systemd/netif /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp',
    ...['passwd', 'group'].map((name) => `mount --bind ${folder}/${name} /etc/${name}`),
    'mount -o remount,ro,bind /sys',
  ];
  return machine.start('sh', ['-ec', `${mounts.join('; ')}; exec ${NETWORKD}`]);
}
