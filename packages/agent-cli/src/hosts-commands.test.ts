/** Runs the commands of bare-metal hosts as a person does, if they need no cluster. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-agent.js', import.meta.url));
let folder: string;

function run(...words: readonly string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder };
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

describe('the commands of bare-metal hosts', { timeout: 60_000 }, () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'hosts-commands-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each<[words: string, status: number, text: string]>([
    ['bind 10.0.0.256', 64, 'write an IPv4 address'],
    ['bind 10.0.0.5 --to 1', 64, 'write six octets, as in'],
    ['bind 10.0.0.5', 66, 'kubeconfig'],
    ['import --isc x --pool a=b', 64, 'write NAMESPACE/NAME of an IPPool'],
    ['import --isc /nowhere --pool rack-1', 66, '/nowhere'],
    ['import --isc x --cluster-agent rack-1', 64, '--cluster-agent needs --namespace'],
    ['import --isc x --cluster-agent rack-1 --namespace a', 66, 'kubeconfig'],
    ['import --isc x --cluster-agent rack-1 --state-dir a', 64, 'cannot be used with'],
    ['export --isc', 64, 'export needs --state-dir DIR, or --cluster-agent NAME'],
    ['export --isc --cluster-agent rack-1', 64, '--cluster-agent needs --namespace'],
    ['export --isc --cluster-agent rack-1 --namespace a', 66, 'kubeconfig'],
    ['export --isc --cluster-agent rack-1 --state-dir a', 64, 'cannot be used with'],
    ['unbind 10.0.0.5 --state /nowhere', 66, '/nowhere'],
    ['release 10.0.0.256', 64, 'write an IPv4 address'],
    ['release 10.0.0.5', 66, 'kubeconfig'],
    ['release 10.0.0.5 --state /nowhere', 69, 'no agent answers at /nowhere/control.sock'],
    ['release 02:00:00:00:00:01 --state /nowhere', 66, '/nowhere'],
    ['hosts --leases directory', 64, 'or set CLUSTERAGENT_NAME\n--leases directory needs --state DIR'],
    [
      'hosts --cluster-agent Bad_Name --state x',
      64,
      '--cluster-agent: "Bad_Name" is not a valid name of a ClusterAgent; write at most 63 lower-case letters, digits and hyphens that begin and end with a letter or digit\n--state is for',
    ],
    ['hosts --cluster-agent rack --state x', 64, '--state is for --leases directory'],
    ['hosts --cluster-agent rack --update-interval 0', 64, 'write seconds, 1 to 86400'],
    ['hosts --cluster-agent rack', 66, 'kubeconfig'],
  ])('%s ends with %i', (words, status, text) => {
    const outcome = run(...words.split(' '));
    expect([outcome.status, outcome.stderr]).toEqual([status, expect.stringContaining(text)]);
  });

  it('report that leases of a ClusterAgent have no pools file: bind needs its cluster instead', () => {
    const file = join(folder, 'of-hosts.leases');
    writeFileSync(file, 'lease 10.0.0.10 {\n  ends never;\n  binding state active;\n  hardware ethernet 02:00:00:00:00:01;\n}\n');
    const state = join(folder, 'of-hosts');
    expect(run('import', '--isc', file, '--pool', 'rack-1', '--state-dir', state).status).toBe(0);
    expect(run('bind', '10.0.0.10', '--state', state)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the leases are those of ClusterAgent rack-1, which has no pools file: omit --state'),
    });
  });

  it('on a bare host, print the reservation for the pools file (bind), and what to remove (unbind)', () => {
    const file = join(folder, 'dhcpd.leases');
    writeFileSync(file, 'lease 10.0.0.10 {\n  ends never;\n  binding state active;\n  hardware ethernet 02:00:00:00:00:01;\n}\n');
    const state = join(folder, 'state');
    expect(run('import', '--isc', file, '--pool', 'default/net', '--state-dir', state).status).toBe(0);
    const bound = run('bind', '02:00:00:00:00:01', '--state', state);
    expect(bound.stdout).toMatch(/of IPPool default\/net .*\n- macAddress: 02:00:00:00:00:01\n {2}ipAddress: 10\.0\.0\.10\n$/);
    expect(run('unbind', '10.0.0.10', '--state', state).stdout).toContain(
      'Remove the reservation of 02:00:00:00:00:01 (10.0.0.10)',
    );
    expect(JSON.parse(run('bind', '10.0.0.10', '--to', '02:00:00:00:00:02', '--state', state, '--json').stdout)).toEqual({
      ...{ pool: 'default/net', change: 'bind' },
      reservation: { macAddress: '02:00:00:00:00:02', ipAddress: '10.0.0.10' },
    });
    expect(run('bind', '10.0.0.99', '--state', state)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('has no lease of 10.0.0.99'),
    });
  });
});
