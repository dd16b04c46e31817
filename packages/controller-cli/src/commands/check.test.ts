import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('../../bin/vmdhcp-controller.js', import.meta.url));
const POOL =
  'apiVersion: network.harvesterhci.io/v1alpha1\nkind: IPPool\nmetadata: {name: a}\nspec:\n  networkName: net\n  ipv4Config: {cidr: 192.168.48.0/24}\n';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-check-'));
  mkdirSync(join(folder, 'good/deep'), { recursive: true });
  writeFileSync(join(folder, 'good/pool.yml'), POOL);
  writeFileSync(
    join(folder, 'good/deep/net.json'),
    '{"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinition","metadata":{"name":"net"}}',
  );
  writeFileSync(join(folder, 'good/notes.txt'), 'kind: [');
  writeFileSync(join(folder, 'bad.yaml'), POOL.replace('/24', '/240'));
  mkdirSync(join(folder, 'empty'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function run(words: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'check', ...words], {
    encoding: 'utf8',
    input,
    cwd: folder,
  });
  return { status, stdout, stderr };
}

describe('vmdhcp-controller check', { timeout: 30_000 }, () => {
  it('a folder with subfolders: exit code 0, with defaults as a warning', () => {
    const { status, stdout } = run(['-f', 'good', '--output', 'json']);
    const { ok, warnings, checked } = JSON.parse(stdout);
    expect([status, ok, warnings.map(({ reason }: { reason: string }) => reason)]).toEqual([0, true, ['server-address-chosen']]);
    expect(checked).toMatchObject({ IPPool: 1, NetworkAttachmentDefinition: 1 });
  });

  it('networks of a dual-stack cluster', () => {
    const cidrs = ['10.53.0.0/16', 'fd00:53::/112'].flatMap((cidr) => ['--service-cidr', cidr]);
    const dual = (cidr: string) => `${POOL}  ipv6Config: {cidr: '${cidr}'}\n`;
    expect(run(['-f', '-', ...cidrs], dual('fd00:48::/64'))).toMatchObject({ status: 0 });
    const { status, stdout } = run(['-f', '-', ...cidrs], dual('fd00:53::/64'));
    expect(status).toBe(65);
    expect(stdout).toContain('spec.ipv6Config.cidr: fd00:53::/64 overlaps fd00:53::/112, the network of the Services');
  });

  it('a file with a problem: exit code 65', () => {
    const { status, stdout } = run(['-f', 'bad.yaml', '-f', 'good/deep']);
    expect(status).toBe(65);
    expect(stdout).toContain(
      'problem: bad.yaml:6:22: IPPool default/a: spec.ipv4Config.cidr: "192.168.48.0/240" is not an IPv4 subnet; write',
    );
  });

  it('the standard input', () => {
    const { status, stdout } = run(['-f', '-', '-n', 'lab', '--output', 'github'], POOL.replace('/24', '/x'));
    expect(status).toBe(65);
    expect(stdout).toContain('::error file=<stdin>,line=6,col=22,title=wrong-format::IPPool lab/a: ');
  });

  it.each<[what: string, words: string[], status: number, text: string]>([
    [
      'a file that does not exist',
      ['-f', 'nowhere.yaml'],
      66,
      'nowhere.yaml: does not exist; give the name of a file or a folder',
    ],
    ['a folder without manifests', ['-f', 'empty'], 66, 'empty: no file ends with .yaml, .yml or .json'],
    ['no file', [], 64, "required option '-f, --filename <path...>' not specified"],
    [
      'a network that is none',
      ['-f', 'good', '--service-cidr', '10.53.0.0'],
      64,
      'write a network, for example 10.53.0.0/16 or fd00:53::/112',
    ],
    [
      'an address that is none',
      ['-f', 'good', '--api-server-address', 'x'],
      64,
      'write an IPv4 address, for example 192.168.1.10',
    ],
    ['another format', ['-f', 'good', '--output', 'xml'], 64, 'Allowed choices are text, json, sarif, github'],
  ])('%s', (_what, words, status, text) => {
    const result = run(words);
    expect(result.stderr).toContain(text);
    expect(result.status).toBe(status);
  });

  it.each(['--api-server-address', '--api-server'])('addresses that the cluster needs itself, given twice: with %s', (flag) => {
    const { status, stdout } = run([
      '-f',
      'good',
      '--service-cidr',
      '10.0.0.0/8',
      '--service-cidr',
      '192.168.0.0/16',
      flag,
      '192.168.48.1',
    ]);
    expect(status).toBe(65);
    expect(stdout).toContain('overlaps 192.168.0.0/16, the network of the Services');
    expect(stdout).toContain('a client could get 192.168.48.1, the address of the API server');
  });
});
