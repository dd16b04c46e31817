/** Which cluster a command works on: the kubeconfig has two, and its current context is the wrong one. A command that mixes them up changes the wrong cluster. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_BIN, CONTROLLER_BIN, LabProcess, PLUGIN_BIN, waitFor } from '../src/index.js';

const CONTEXTS = ['current', 'wanted'];
const LEASE = 'lease 10.0.0.10 {\n  ends never;\n  binding state active;\n  hardware ethernet 02:00:00:00:00:01;\n}\n';

let folder: string;
let kubeconfig: string;
let leases: string;
let servers: Server[];
/** The context of each request. */
let asked: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-contexts-'));
  [kubeconfig, leases] = [join(folder, 'kubeconfig'), join(folder, 'dhcpd.leases')];
  servers = [];
  asked = [];
  const urls = await Promise.all(CONTEXTS.map(startServer));
  const config = {
    'current-context': 'current',
    contexts: CONTEXTS.map((name) => ({ name, context: { cluster: name, user: name } })),
    clusters: CONTEXTS.map((name, index) => ({ name, cluster: { server: urls[index] } })),
    users: CONTEXTS.map((name) => ({ name, user: { token: name } })),
  };
  writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }), { mode: 0o600 });
  writeFileSync(leases, LEASE);
});

afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(folder, { recursive: true });
});

/** An API server that has nothing of what it is asked for. */
async function startServer(context: string): Promise<string> {
  const server = createServer((_, response) => {
    asked.push(context);
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"kind":"Status","code":404,"message":"there is nothing here"}');
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The contexts that a program has asked by its first request, or by its end. */
async function contextsOf(program: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<string[]> {
  const running = new LabProcess(process.execPath, [program, ...words], { env: { HOME: folder, ...env } });
  try {
    await waitFor('a request', () => running.hasEnded || asked.length > 0);
  } finally {
    running.kill('SIGKILL');
    await running.ended();
  }
  expect(asked.length, running.lines.join('\n')).toBeGreaterThan(0);
  return [...new Set(asked)];
}

const OFF = ['--http', 'off'];
const CONTROLLER: readonly (readonly [command: string, words: () => readonly string[]])[] = [
  ['run', () => ['--no-agent', ...OFF]],
  ['crds', () => ['--apply']],
  ['migrate', () => ['--dry-run', '--backup', join(folder, 'backup.json')]],
  ['uninstall', () => ['--dry-run']],
  ['webhook', () => ['--no-register', '--listen', '127.0.0.1:0', ...OFF]],
];
const AGENT: typeof CONTROLLER = [
  ['serve', () => ['--dry-run', ...OFF]],
  ['hosts', () => ['--cluster-agent', 'rack-1', '--listen', 'off']],
  ['bind', () => ['10.0.0.5']],
  ['unbind', () => ['10.0.0.5']],
  ['release', () => ['10.0.0.5']],
  ['import', () => ['--isc', leases, '--cluster-agent', 'rack-1', '--namespace', 'agents']],
];
const PLUGIN: typeof CONTROLLER = [
  ['why', () => ['vm-a']],
  ['pools', () => []],
  ['leases', () => []],
  ['agents', () => []],
  ['events', () => []],
  ['top', () => []],
  ['capture', () => ['default/pool']],
  ['audit', () => []],
  ['pin', () => ['vm-a', 'nic', '10.0.0.5']],
  ['release', () => ['vm-a']],
  ['export', () => []],
];

describe.each([
  ['vmdhcp-controller', CONTROLLER_BIN, CONTROLLER],
  ['vmdhcp-agent', AGENT_BIN, AGENT],
] as const)('%s', { tags: ['nightly'] }, (_, program, commands) => {
  it.each(commands)('%s asks the cluster of --kubecontext, and no other one', async (command, words) => {
    const flags = ['--kubeconfig', kubeconfig, '--kubecontext', 'wanted'];
    expect(await contextsOf(program, [command, ...words(), ...flags], {})).toEqual(['wanted']);
  });

  it.each(commands)('%s asks the cluster of KUBECONTEXT in the file of KUBECONFIG, and no other one', async (command, words) => {
    const env = { KUBECONFIG: kubeconfig, KUBECONTEXT: 'wanted' };
    expect(await contextsOf(program, [command, ...words()], env)).toEqual(['wanted']);
  });
});

describe('kubectl vmdhcp', () => {
  it.each(PLUGIN)('%s asks the cluster of --context, and no other one', { tags: ['nightly'] }, async (command, words) => {
    const flags = ['--kubeconfig', kubeconfig, '--context', 'wanted'];
    expect(await contextsOf(PLUGIN_BIN, [command, ...words(), ...flags], {})).toEqual(['wanted']);
  });

  it('uses the current context of the file in KUBECONFIG if none is named', async () => {
    expect(await contextsOf(PLUGIN_BIN, ['pools'], { KUBECONFIG: kubeconfig })).toEqual(['current']);
  });
});
