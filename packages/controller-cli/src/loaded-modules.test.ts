/** What a command imports stays in memory for as long as a controller runs, so each command loads only what it uses. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-controller.js', import.meta.url));
const PLUGIN = fileURLToPath(new URL('../bin/kubectl-vmdhcp.js', import.meta.url));
/** As in the images: an older one loads fetch at its start. */
const NODE = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
/** Prints, at the end, the packages whose modules were loaded, and the modules of Node. */
const LIST_LOADED = `
import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({ load(url, context, next) {
  packages.add(/.*(?:node_modules|packages)\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1]);
  return next(url, context);
} });
process.on('exit', () => process.stderr.write('LOADED' + JSON.stringify([...packages, ...process.moduleLoadList])));`;

function loadedBy(env: NodeJS.ProcessEnv, ...words: readonly string[]) {
  return loadedByProgram(PROGRAM, env, words);
}

function loadedByProgram(program: string, env: NodeJS.ProcessEnv, words: readonly string[]) {
  const hook = `data:text/javascript,${encodeURIComponent(LIST_LOADED)}`;
  const settings = { encoding: 'utf8', timeout: 20_000, env: { PATH: process.env['PATH'], ...env } } as const;
  const { status, stderr } = spawnSync(NODE, ['--import', hook, program, ...words], settings);
  return { status, loaded: new Set(JSON.parse(stderr.split('LOADED')[1] ?? '[]') as string[]) };
}

describe('modules that are loaded', { timeout: 30_000 }, () => {
  it('--help: the options, and no program', () => {
    const { status, loaded } = loadedBy({}, '--help');
    expect(status).toBe(0);
    expect(loaded).toContain('commander');
    for (const name of ['zod', 'yaml', 'pino', 'prom-client', 'kube-runtime']) expect(loaded).not.toContain(name);
  });

  it('run, in a pod: no kubeconfig library, no YAML, no fetch, nothing of Wake-on-LAN, of bare-metal hosts or of the page', () => {
    const { status, loaded } = loadedBy({ KUBERNETES_SERVICE_HOST: '127.0.0.1' }, 'run', '--no-agent');
    expect(status).toBe(66);
    for (const name of ['pino', 'prom-client', 'reconciler']) expect(loaded).toContain(name);
    const refused = [
      '@kubernetes/client-node',
      'yaml',
      'NativeModule internal/deps/undici/undici',
      'NativeModule http2',
      '@grpc/grpc-js',
      'wake-on-lan',
      'bare-metal',
      'status-page',
    ];
    for (const name of refused) expect(loaded).not.toContain(name);
  });

  it('kubectl vmdhcp --help: the options, and nothing that reads a cluster', () => {
    const { status, loaded } = loadedByProgram(PLUGIN, {}, ['why', '--help']);
    expect(status).toBe(0);
    for (const name of ['zod', 'yaml', 'pino', 'prom-client', 'reconciler', '@kubernetes/client-node'])
      expect(loaded).not.toContain(name);
  });

  it('kubectl vmdhcp why: no schemas', () => {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-loaded-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const kubeconfig = join(folder, 'kubeconfig');
    const context = { name: 'x', context: { cluster: 'c', user: 'u' } };
    const clusters = [{ name: 'c', cluster: { server: 'http://127.0.0.1:9' } }];
    const users = [{ name: 'u', user: { token: 't' } }];
    writeFileSync(kubeconfig, JSON.stringify({ clusters, users, contexts: [context], 'current-context': 'x' }));
    const { status, loaded } = loadedByProgram(PLUGIN, {}, ['why', 'web', '--kubeconfig', kubeconfig]);
    expect(status).toBe(69);
    expect(loaded).toContain('reconciler');
    for (const name of ['pino', 'prom-client', 'zod', '@grpc/grpc-js']) expect(loaded).not.toContain(name);
  });
});
