import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-controller.js', import.meta.url));
/** The discard port, where nothing listens. */
const NOBODY = 9;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function startAt(port: number, command = ['run', '--no-agent', '--http', '127.0.0.1:0']) {
  const path = join(folder, 'kubeconfig');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'away',
    contexts: [{ name: 'away', context: { cluster: 'away', user: 'away' } }],
    clusters: [{ name: 'away', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'away', user: {} }],
  };
  writeFileSync(path, JSON.stringify(kubeconfig));
  const options = [...command, '--kubeconfig', path];
  // A program that does not end of itself fails the test, and is not left behind.
  const limits = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
  const child = spawn(process.execPath, [PROGRAM, ...options], { stdio: ['ignore', 'ignore', 'pipe'], ...limits });
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]).then(([[code], stderr]) => ({ code, stderr }));
  return { child, ended };
}

it('a controller whose API server cannot be reached says so and ends, so that it is started again', async () => {
  const { code, stderr } = await startAt(NOBODY).ended;
  expect(stderr).toContain('connect ECONNREFUSED 127.0.0.1:9: nothing listens there');
  expect(code).toBe(69);
});

it.each([['crds', '--apply'], ['migrate'], ['uninstall']])('%s says that the cluster cannot be reached', async (...command) => {
  const { code, stderr } = await startAt(NOBODY, command).ended;
  expect(stderr).toMatch(/^vmdhcp-controller: .*connect ECONNREFUSED 127\.0\.0\.1:9: nothing listens there\n$/);
  expect(code).toBe(69);
});

it('a controller whose API server never answers ends as soon as it is told to', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { child, ended } = startAt((server.address() as AddressInfo).port);
    await once(server, 'connection');
    child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, stderr: '' });
  } finally {
    server.close();
  }
});
