/** What a command imports stays in memory for as long as an agent runs, so each command loads only what it uses. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { loadedBy } from '@vmdhcp/service-process/testing';
import { describe, expect, it } from 'vitest';

const PROGRAM = {
  program: fileURLToPath(new URL('../bin/vmdhcp-agent.js', import.meta.url)),
  /** The Node version of the images: an older one loads fetch at its start. */
  node: fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url)),
};

const SCHEMAS = ['zod', 'yaml', '@kubernetes/client-node'];
/** Loaded by an `import` of `node:http`: fetch and HTTP/2. */
const FETCH = ['NativeModule internal/deps/undici/undici', 'NativeModule http2'];

describe('loaded modules', { timeout: 30_000 }, () => {
  it('--help: the options, and no program', () => {
    const { status, loaded } = loadedBy(PROGRAM, ['--help']);
    expect(status).toBe(0);
    expect(loaded).toContain('commander');
    for (const name of [...SCHEMAS, ...FETCH, 'pino', 'prom-client', 'koffi', 'reconciler', 'kube-runtime'])
      expect(loaded).not.toContain(name);
  });

  it('serve --pools: the packet path; a separate process parses the file', () => {
    const { status, loaded } = loadedBy(PROGRAM, ['serve', '--pools', '/nowhere/pools.yaml', '--interface', 'net-48=lo']);
    expect(status).toBe(66);
    for (const name of ['koffi', 'dhcp-allocator', 'linux-sockets']) expect(loaded).toContain(name);
    for (const name of [...SCHEMAS, ...FETCH]) expect(loaded).not.toContain(name);
  });

  it('wol: gRPC and TLS only with --manager', () => {
    // It cannot listen on a host name of documentation: the program ends after it has loaded what it needs.
    const http = ['--http', '203.0.113.1:9'];
    const alone = loadedBy(PROGRAM, ['wol', ...http]);
    expect(alone.status).toBe(69);
    for (const name of ['koffi', 'wake-on-lan', 'prom-client']) expect(alone.loaded).toContain(name);
    for (const name of [...SCHEMAS, ...FETCH, '@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs'])
      expect(alone.loaded).not.toContain(name);
    const reporting = loadedBy(PROGRAM, ['wol', ...http, '--manager', '127.0.0.1:9', '--node-name', 'node-1', '--clear-text']);
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
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM.program, 'wol', ...words], { encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 64, stderr: expect.stringContaining(message) });
  });

  it('leases: no schemas, log or metrics', () => {
    const { status, loaded } = loadedBy(PROGRAM, ['leases', '--state', '/nowhere']);
    expect(status).toBe(66);
    for (const name of [...SCHEMAS, 'pino', 'prom-client']) expect(loaded).not.toContain(name);
  });
});
