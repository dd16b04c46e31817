/** A short command loads only what it uses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadedBy } from '@vmdhcp/service-process/testing';
import { describe, expect, it, onTestFinished } from 'vitest';

const PROGRAM = {
  program: fileURLToPath(new URL('../bin/kubectl-vmdhcp.js', import.meta.url)),
  /** The Node version of the images: an older one loads fetch at its start. */
  node: fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url)),
};

describe('loaded modules', { timeout: 30_000 }, () => {
  it('kubectl vmdhcp --help: the options, and no code that reads a cluster', () => {
    const { status, loaded } = loadedBy(PROGRAM, ['why', '--help']);
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
    const { status, loaded } = loadedBy(PROGRAM, ['why', 'web', '--kubeconfig', kubeconfig]);
    expect(status).toBe(69);
    expect(loaded).toContain('reconciler');
    for (const name of ['pino', 'prom-client', 'zod', '@grpc/grpc-js']) expect(loaded).not.toContain(name);
  });
});
