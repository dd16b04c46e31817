/** What a command imports stays in memory for as long as an agent runs, so each command loads only what it uses. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../bin/vmdhcp-agent.js', import.meta.url));
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

function loadedBy(...words: readonly string[]): { readonly status: number | null; readonly loaded: ReadonlySet<string> } {
  const hook = `data:text/javascript,${encodeURIComponent(LIST_LOADED)}`;
  const { status, stderr } = spawnSync(NODE, ['--import', hook, PROGRAM, ...words], { encoding: 'utf8' });
  return { status, loaded: new Set(JSON.parse(stderr.split('LOADED')[1] ?? '[]') as string[]) };
}

const SCHEMAS = ['zod', 'yaml', '@kubernetes/client-node'];
/** Behind an `import` of `node:http`: fetch and HTTP/2. */
const FETCH = ['NativeModule internal/deps/undici/undici', 'NativeModule http2'];

describe('modules that are loaded', { timeout: 30_000 }, () => {
  it('--help: the options, and no program', () => {
    const { status, loaded } = loadedBy('--help');
    expect(status).toBe(0);
    expect(loaded).toContain('commander');
    for (const name of [...SCHEMAS, ...FETCH, 'pino', 'prom-client', 'koffi', 'reconciler', 'kube-runtime'])
      expect(loaded).not.toContain(name);
  });

  it('serve --pools: the packet path; a process of its own parses the file', () => {
    const { status, loaded } = loadedBy('serve', '--pools', '/nowhere/pools.yaml', '--interface', 'net-48=lo');
    expect(status).toBe(66);
    for (const name of ['koffi', 'dhcp-allocator', 'linux-sockets']) expect(loaded).toContain(name);
    for (const name of [...SCHEMAS, ...FETCH]) expect(loaded).not.toContain(name);
  });

  it('wol: gRPC and TLS only with --manager', () => {
    // A host name of documentation cannot be listened on: the program ends after it has loaded what it needs.
    const http = ['--http', '203.0.113.1:9'];
    const alone = loadedBy('wol', ...http);
    expect(alone.status).toBe(69);
    for (const name of ['koffi', 'wake-on-lan', 'prom-client']) expect(alone.loaded).toContain(name);
    for (const name of [...SCHEMAS, ...FETCH, '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'])
      expect(alone.loaded).not.toContain(name);
    const reporting = loadedBy('wol', ...http, '--manager', '127.0.0.1:9', '--node-name', 'node-1', '--clear-text');
    expect(reporting.status).toBe(69);
    for (const name of ['@grpc/grpc-js', '@grpc/proto-loader']) expect(reporting.loaded).toContain(name);
    for (const name of SCHEMAS) expect(reporting.loaded).not.toContain(name);
  });

  it.each([
    [['--manager', '127.0.0.1:9', '--clear-text'], '--node-name'],
    [['--manager', '127.0.0.1:9', '--node-name', 'node-1'], 'either --tls-dir or --clear-text'],
    [['--manager', '127.0.0.1:9', '--node-name', 'node-1', '--exec', 'true'], 'cannot be used with'],
    [['--manager', '127.0.0.1', '--node-name', 'node-1', '--clear-text'], 'host:port'],
    [['--clear-text'], 'need --manager'],
  ])('wol %j: wrong usage, and what is missing', (words, message) => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'wol', ...words], { encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 64, stderr: expect.stringContaining(message) });
  });

  it('leases: no schemas, log or metrics', () => {
    const { status, loaded } = loadedBy('leases', '--state', '/nowhere');
    expect(status).toBe(66);
    for (const name of [...SCHEMAS, 'pino', 'prom-client']) expect(loaded).not.toContain(name);
  });
});
