/** Runs the commands as a person does, on files. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { printableText } from '@vmdhcp/service-process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-agent.js', import.meta.url));
const ACTIVE =
  'lease 10.0.0.10 {\n  starts 1 2026/11/23 16:00:00;\n  ends never;\n  binding state active;\n  next binding state free;\n  hardware ethernet 02:00:00:00:00:01;\n}\n';
const FREE = 'lease 10.0.0.11 {\n  binding state free;\n}\n';
let folder: string;

function run(...words: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe('import and export', { timeout: 60_000 }, () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'isc-leases-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('import leases, print the outcomes, refuse a second import, and export the leases', () => {
    const file = write('dhcpd.leases', FREE + ACTIVE.replace('never', '1 2026/11/23 15:00:00') + ACTIVE);
    const state = join(folder, 'state');
    const words = ['import', '--isc', file, '--pool', 'default/net', '--state-dir', state];
    expect(run(...words, '--dry-run')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 record; nothing was written'),
    });
    expect(existsSync(state)).toBe(false);
    const { status, stdout } = run(...words);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /3 entries, 2 addresses\n +1 {2}taken: leased until its end \(line 11\)\n +1 {2}not taken: free, .* \(line 1\)\n +1 {2}not taken: a later entry/,
    );
    const [header, line = ''] = readFileSync(join(state, 'bindings'), 'utf8').split('\n');
    expect(header).toBe('vmdhcp-agent-bindings 1');
    expect(line.slice(9)).toBe(
      '{"pool":"default/net","address":"10.0.0.10","client":"01020000000001","mac":"02:00:00:00:00:01","bound":1795449600000,"granted":1795449600000,"ends":"never"}',
    );
    expect(run(...words)).toMatchObject({ status: 73, stderr: expect.stringContaining('has bindings') });
    const exported = run('export', '--isc', '--state-dir', state);
    expect(exported.status).toBe(0);
    expect(exported.stdout).toContain('lease 10.0.0.10 {\n  starts 1 2026/11/23 16:00:00;\n  ends never;\n');
    const again = run('import', '--isc', write('again.leases', exported.stdout), '--pool', 'default/net', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      ok: true,
      problems: [],
      leases: [{ address: '10.0.0.10', outcome: 'leased' }],
    });
  });

  describe('with several pools whose subnets overlap', () => {
    const pool = (name: string, cidr: string, dynamic: string) => {
      const first = cidr.replace(/0\/.*/, '1');
      return `---
apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata: { name: ${name}, namespace: default }
spec:
  networkName: default/${name}
  ipv4Config: { cidr: ${cidr}, serverIP: ${first}, pool: { start: ${first}0, end: ${first}9 }, dynamic: ['${dynamic}'] }
`;
    };
    const narrow = pool('narrow', '10.0.1.0/24', '10.0.1.100-10.0.1.199');
    const lease = ACTIVE.replace('10.0.0.10', '10.0.1.150');
    const importInto = (pools: string) =>
      run('import', '--isc', write('b.leases', lease), '--pools', write('pools.yaml', pools), '--json');

    it('a lease goes to the pool that leases its address, so that nobody else gets it', () => {
      const { stdout } = importInto(pool('wide', '10.0.0.0/16', '10.0.0.100-10.0.0.199') + narrow);
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, leases: [{ address: '10.0.1.150', pool: 'default/narrow' }] });
    });

    it('nothing is imported if two pools lease it', () => {
      const { status, stderr } = importInto(pool('wide', '10.0.0.0/16', '10.0.1.150') + narrow);
      expect([status, stderr]).toEqual([
        65,
        'vmdhcp-agent: 10.0.1.150 may be leased by the pools default/wide and default/narrow: nothing is imported; give pools whose ranges are apart, or --pool for every lease\n',
      ]);
    });
  });

  it.each([['--json'], []])('print no control characters from the file: %j', (...format: string[]) => {
    const named = ACTIVE.replace('binding', 'client-hostname "\\233red";\n  binding');
    const file = write('terminal.leases', `${named}\u009bword x;\nclass "\u009bblue" {\n}\n${FREE}`);
    const { stdout, stderr } = run('import', '--isc', file, '--pool', 'default/net', '--dry-run', ...format);
    expect(printableText(stdout + stderr)).toBe(stdout + stderr);
    if (format.includes('--json')) expect(stdout).toContain(String.raw`"hostname": "\u009bred"`);
  });

  it('a file that was cut is imported only if the user accepts that', () => {
    const file = write('cut.leases', ACTIVE + FREE.slice(0, 30));
    const state = join(folder, 'of-cut');
    const words = ['import', '--isc', file, '--pool', 'default/net', '--state-dir', state];
    expect(run(...words)).toMatchObject({
      status: 65,
      stderr: expect.stringContaining('cut.leases:8: lease 10.0.0.11: the file ends in the middle'),
    });
    expect(existsSync(state)).toBe(false);
    expect(run(...words, '--accept-problems')).toMatchObject({ status: 0, stdout: expect.stringContaining('2 records written') });
  });

  it.each([
    ['an archive', gzipSync(ACTIVE), 'archive is compressed (gzip): unpack it with gunzip'],
    ['another file', 'root:x:0:0:root:/root:/bin/bash\n', 'is not a lease file of ISC dhcpd'],
    [
      'a configuration',
      'subnet 10.0.0.0 netmask 255.255.255.0 { range 10.0.0.10 10.0.0.99; }\n',
      'is not a lease file of ISC dhcpd',
    ],
  ])('%s is not a lease file: one line says so', (_, content, message) => {
    const file = join(folder, 'archive');
    writeFileSync(file, content);
    const { status, stderr } = run('import', '--isc', file, '--pool', 'default/net');
    expect([status, stderr.trimEnd().split('\n')]).toEqual([65, [expect.stringContaining(message)]]);
  });

  it('prints only the first of many problems', () => {
    const file = write('many.leases', ACTIVE + 'lease 10.0.0.9 {\n  ends soon;\n}\n'.repeat(100));
    const { status, stderr } = run('import', '--isc', file, '--pool', 'default/net');
    expect(status).toBe(65);
    expect(stderr.match(/^problem:/gm)).toHaveLength(21);
    expect(stderr).toContain('many.leases: 80 more problems; --json has all of them');
  });

  it('an address whose last entry cannot be read is leased to no client', () => {
    const former = ACTIVE.replace('state active', 'state free').replace('never', '1 2026/11/09 16:00:00');
    const file = write('in-use.leases', `${former}${ACTIVE.replace('00:01', '00:02').replace('}', 'client-hostname "node')}`);
    const words = ['import', '--isc', file, '--pool', 'default/net', '--accept-problems', '--json'];
    expect(JSON.parse(run(...words).stdout)).toMatchObject({
      leases: [{ address: '10.0.0.10', line: 8, outcome: 'quarantined-unreadable' }],
    });
  });

  it.each([
    [['import', '--isc', '/nowhere/dhcpd.leases', '--pool', 'a/b'], 66],
    [['import', '--isc', '/nowhere/dhcpd.leases'], 64],
    [['export', '--isc', '--state-dir', '/nowhere'], 66],
    [['export', '--state-dir', '/nowhere'], 64],
  ])('%j ends with %d', (words, status) => expect(run(...words).status).toBe(status));
});
