/** What a command imports stays in memory for as long as a controller runs, so each command loads only what it uses. */
import { fileURLToPath } from 'node:url';
import { loadedBy } from '@vmdhcp/service-process/testing';
import { describe, expect, it } from 'vitest';

const PROGRAM = {
  program: fileURLToPath(new URL('../bin/vmdhcp-controller.js', import.meta.url)),
  /** The Node version of the images: an older one loads fetch at its start. */
  node: fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url)),
};

describe('loaded modules', { timeout: 30_000 }, () => {
  it('--help: the options, and no program', () => {
    const { status, loaded } = loadedBy(PROGRAM, ['--help']);
    expect(status).toBe(0);
    expect(loaded).toContain('commander');
    for (const name of ['zod', 'yaml', 'pino', 'prom-client', 'kube-runtime']) expect(loaded).not.toContain(name);
  });

  it('run, in a pod: no kubeconfig library, no YAML, no fetch, nothing of Wake-on-LAN, of bare-metal hosts or of the page', () => {
    const { status, loaded } = loadedBy(PROGRAM, ['run', '--no-agent'], { KUBERNETES_SERVICE_HOST: '127.0.0.1' });
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
});
