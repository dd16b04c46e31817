import { spawnSync } from 'node:child_process';

/** Set if every real program must be installed: then tests fail instead of being skipped. */
const REQUIRE_ALL_VARIABLE = 'VMDHCP_REQUIRE_REAL_PARTS';

/** systemd-networkd, which is in no path. */
export const NETWORKD = '/lib/systemd/systemd-networkd';

/** Real parts that tests use, programs and libraries of Python, and the Debian package of each. */
export const REAL_PROGRAMS = {
  udhcpc: 'udhcpc',
  dhclient: 'isc-dhcp-client',
  dhcpd: 'isc-dhcp-server',
  dhcpcd: 'dhcpcd-base',
  rdisc6: 'ndisc6',
  radvd: 'radvd',
  perfdhcp: 'kea-admin',
  'kea-dhcp4': 'kea-dhcp4-server',
  tcpdump: 'tcpdump',
  dnsmasq: 'dnsmasq-base',
  etherwake: 'etherwake',
  wakeonlan: 'wakeonlan',
  kubectl: 'kubernetes-client',
  crun: 'crun',
  skopeo: 'skopeo',
  umoci: 'umoci',
  containerd: 'containerd',
  ctr: 'containerd',
  'dpkg-deb': 'dpkg',
  man: 'man-db',
  'systemd-analyze': 'systemd',
  [NETWORKD]: 'systemd',
  redfishtool: 'redfishtool',
  sushy: 'python3-sushy',
  prometheus: 'prometheus',
  chromium: 'chromium',
} as const;

export type RealProgram = keyof typeof REAL_PROGRAMS;

/** Where `dhclient` and friends are, for users whose PATH lacks them. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const IN_PYTHON: ReadonlySet<RealProgram> = new Set(['sushy']);

/** True if the program can be run. */
export function isInstalled(program: RealProgram): boolean {
  const command = IN_PYTHON.has(program) ? `python3 -c 'import ${program}'` : `command -v ${program}`;
  return spawnSync('sh', ['-c', command], { env: { PATH: SYSTEM_PATH } }).status === 0;
}

/**
 * False if a test that needs these programs is to be skipped.
 * @throws Error naming the packages to install, if none may be missing.
 */
export function has(...programs: readonly RealProgram[]): boolean {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length > 0 && process.env[REQUIRE_ALL_VARIABLE] === '1') {
    throw new Error(
      `not installed: ${missing.map((program) => `${program} (apt-get install ${REAL_PROGRAMS[program]})`).join(', ')}`,
    );
  }
  return missing.length === 0;
}

/** For the name of a test: what it needs. */
export function needs(...programs: readonly RealProgram[]): string {
  return `[needs ${programs.map((program) => `${program}: Debian package ${REAL_PROGRAMS[program]}`).join(', ')}]`;
}
