import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-controller.js', import.meta.url));
/** The discard port, where nothing listens. */
const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'away',
  contexts: [{ name: 'away', context: { cluster: 'away', user: 'away' } }],
  clusters: [{ name: 'away', cluster: { server: 'http://127.0.0.1:9' } }],
  users: [{ name: 'away', user: {} }],
});

it('a controller whose API server does not answer says so and ends, so that it is started again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-'));
  try {
    const path = join(folder, 'kubeconfig');
    writeFileSync(path, KUBECONFIG);
    const options = ['run', '--no-agent', '--http', '127.0.0.1:0', '--kubeconfig', path];
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...options], {
      encoding: 'utf8',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    expect(stderr).toContain('connect ECONNREFUSED 127.0.0.1:9: nothing listens there');
    expect(status).toBe(66);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
