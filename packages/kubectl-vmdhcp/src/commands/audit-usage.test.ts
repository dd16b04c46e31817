/** Wrong usage of `kubectl vmdhcp audit`, which is reported without a running cluster. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../bin/kubectl-vmdhcp.js', import.meta.url));
// The discard port, on which nothing listens.
const KUBECONFIG =
  'apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: x, cluster: {server: "http://127.0.0.1:9"}}]\nusers: [{name: x, user: {}}]\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-usage-'));
  writeFileSync(join(folder, 'config'), KUBECONFIG);
});

afterAll(() => rmSync(folder, { recursive: true }));

it.each<[words: string, status: number, text: string]>([
  ['10.0.0.5 --at yesterday', 64, '--at yesterday: write 2026-11-17T10:00:00Z'],
  ['10.0.0.5 --since 3x', 64, '--since 3x: write 2026-11-17T10:00:00Z'],
  ['10.0.0.5 --at 3d --since 1d', 64, 'give --at or --since, not both'],
  ['--at 3d', 64, '--at needs an address'],
  ['a/b/c', 64, 'write NAME, NAMESPACE/NAME, a MAC address or an IPv4 address'],
  ['10.0.0.5 --at 3d', 69, '127.0.0.1:9'],
])('audit %s ends with %i', { timeout: 30_000 }, (words, status, text) => {
  const args = [PROGRAM, 'audit', ...words.split(' '), '--kubeconfig', join(folder, 'config')];
  const outcome = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([outcome.status, outcome.stderr]).toEqual([status, expect.stringContaining(text)]);
});
