/** The package of Debian, as it is on a host after `apt install`: its files are laid over /usr, and what the README and the service start runs from there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { has, Lab, needs, run, startClient } from '@vmdhcp/lab';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './build-images.js';

const MEGABYTE = 1_000_000;
const CAPABILITIES = '+net_bind_service,+net_raw,+net_admin';

/** What README has people type on a host, without the comments. */
const [, SECTION = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n## On a bare host\n');
const README_LINES = (/^```sh\n([\s\S]*?)^```/m.exec(SECTION)?.[1] ?? '').split('\n').map((line) => line.replace(/ +#.*$/, ''));

let folder: string;
let root: string;

const hasDpkg = has('dpkg-deb');

beforeAll(() => {
  if (!hasDpkg) return;
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-deb-'));
  root = join(folder, 'root');
  mkdirSync(root);
  const task = [join(ROOT, 'scripts/tasks/images.mjs'), 'deb', '--arch', 'amd64', '--output', folder];
  execFileSync(process.execPath, task, { cwd: ROOT });
  run('dpkg-deb', ['--extract', join(folder, debOf()), root]);
  run('mount', ['-t', 'overlay', 'overlay', '-o', `lowerdir=${join(root, 'usr')}:/usr`, '/usr']);
}, 300_000);

afterAll(() => {
  if (!hasDpkg) return;
  run('umount', ['--lazy', '/usr']);
  rmSync(folder, { recursive: true });
});

function debOf(): string {
  return readdirSync(folder).find((name) => name.endsWith('.deb')) ?? '';
}

describe.runIf(hasDpkg)(`the package of Debian ${needs('dpkg-deb')}`, () => {
  it('has everything but Node in less than 40 MB, and no Kubernetes client', () => {
    const files = run('find', [root, '-type', 'f', '-not', '-name', 'node', '-printf', '%s %P\n']).trim().split('\n');
    const size = files.reduce((sum, line) => sum + Number.parseInt(line, 10), 0);
    expect(files.length).toBeGreaterThan(500);
    expect(size).toBeLessThan(40 * MEGABYTE);
    expect(files.filter((line) => line.includes('@kubernetes'))).toEqual([]);
  });

  it('is what README names, owned by root, with settings that an upgrade keeps', () => {
    expect(README_LINES).toContain(`sudo apt install ./.vmdhcp/deb/${debOf()}`);
    const listed = run('dpkg-deb', ['--contents', join(folder, debOf())])
      .trim()
      .split('\n');
    expect(listed.filter((line) => !line.includes(' root/root '))).toEqual([]);
    expect(run('dpkg-deb', ['--info', join(folder, debOf()), 'conffiles'])).toBe('/etc/default/vmdhcp-agent\n');
  });

  it.runIf(has('man'))('has a manual with every command and option', () => {
    const manual = run('sh', ['-c', 'MANWIDTH=120 man vmdhcp-agent | col -b']);
    for (const words of ['vmdhcp-agent serve [options]', '--configure-interfaces', '127.0.0.1:8080', 'POD_NAMESPACE'])
      expect(manual).toContain(words);
  });

  it('has completions of commands, options and choices', () => {
    const complete = (...words: readonly string[]) =>
      run('bash', [
        '-c',
        `. /usr/share/bash-completion/completions/vmdhcp-agent; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vmdhcp_agent; echo "\${COMPREPLY[@]}"`,
        'bash',
        'vmdhcp-agent',
        ...words,
      ]).trim();
    expect(complete('se')).toBe('serve');
    expect(complete('serve', '--configure')).toBe('--configure-interfaces');
    expect(complete('serve', '--log-level', 'war')).toBe('warn');
  });

  it.runIf(has('systemd-analyze'))('has a service that systemd accepts, and that may do little', () => {
    const unit = '/usr/lib/systemd/system/vmdhcp-agent.service';
    expect(run('sh', ['-c', `systemd-analyze verify --man=no '${unit}' 2>&1 | grep vmdhcp-agent || true`])).toBe('');
    const [, exposure] = /exposure level for vmdhcp-agent\.service: ([\d.]+)/.exec(
      run('sh', ['-c', `systemd-analyze security --offline=true --no-pager '${unit}' || true`]),
    ) ?? ['', '10'];
    expect(Number(exposure)).toBeLessThan(4);
  });

  it('tells what a kubeconfig needs that it cannot read', () => {
    const kubeconfig = join(folder, 'exec.yaml');
    const entries = [
      'clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]',
      'users: [{name: a, user: {exec: {command: x}}}]',
    ];
    entries.push('contexts: [{name: a, context: {cluster: a, user: a}}]', 'current-context: a');
    writeFileSync(kubeconfig, entries.join('\n'));
    const printed = run('sh', [
      '-c',
      `/usr/bin/vmdhcp-agent export --isc --cluster-agent a --namespace a --kubeconfig '${kubeconfig}' 2>&1 || true`,
    ]);
    expect(printed).toContain('needs the npm package @kubernetes/client-node, which is not installed');
  });

  it.runIf(has('udhcpc'))(
    'serves by what the service runs, as a user with its capabilities alone: a client gets its address, and renews it',
    { timeout: 120_000 },
    async () => {
      const lab = new Lab();
      try {
        for (const name of ['blue', 'green']) lab.addNetwork(name);
        const pools = join(folder, 'pools.yaml');
        writeFileSync(pools, readFileSync(join(ROOT, 'examples/two-networks.yaml')));
        run('chmod', ['-R', 'a+rX', folder]);
        const state = join(folder, 'state');
        mkdirSync(state);
        run('chown', ['65532', state]);
        const settings = readFileSync(join(root, 'etc/default/vmdhcp-agent'), 'utf8').replaceAll(/=eth\d/g, (name) =>
          name === '=eth1' ? '=blue' : '=green',
        );
        writeFileSync(join(folder, 'settings'), settings);
        const unit = readFileSync('/usr/lib/systemd/system/vmdhcp-agent.service', 'utf8');
        const [, start = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
        const command = start.replace('/etc/vmdhcp-agent/pools.yaml', pools);
        const user = [
          '--reuid=65532',
          '--regid=65532',
          '--clear-groups',
          `--inh-caps=${CAPABILITIES}`,
          `--ambient-caps=${CAPABILITIES}`,
        ];
        const script = `. '${join(folder, 'settings')}'; exec setpriv ${user.join(' ')} ${command} --state '${state}' --http off`;
        const serving = lab.start('sh', ['-c', script]);
        const machine = lab.addMachine('vm-a', { network: 'blue', macAddress: '02:00:00:00:48:01' });
        const client = startClient('udhcpc', machine);
        const bound = await client.event('bound');
        expect(bound.address, serving.lines.join('\n')).toMatch(/^192\.168\.48\./);
        // Some clients renew by broadcast; the others need the server address on the interface.
        expect(run('ip', ['-oneline', 'address', 'show', 'dev', 'blue'])).toContain('192.168.48.2/24');
        client.process.kill('SIGUSR1');
        expect((await client.event('renew')).address, serving.lines.join('\n')).toBe(bound.address);
        expect(README_LINES.find((line) => line.includes(' serve '))).toContain('--configure-interfaces');
      } finally {
        await lab.dispose();
      }
    },
  );
});
