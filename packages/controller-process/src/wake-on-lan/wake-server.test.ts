import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import type { Logger } from '@vmdhcp/service-process';
import { expect, it, vi } from 'vitest';
import { WakeServer } from './wake-server.js';

function start(onStop: () => Promise<void>) {
  const lines: string[] = [];
  const write = (...texts: unknown[]) => void lines.push(String(texts.at(-1)));
  const clock = new FakeClock();
  const server = new WakeServer({
    listen: { host: '127.0.0.1', port: 0 },
    handler: {
      report: async () => ({ kind: 'unavailable', message: 'a test' }),
      isServing: () => false,
      leader: () => undefined,
      wakeable: { snapshot: () => [], onChange: () => () => {} },
    },
    openCertificates: undefined,
    clock,
    logger: { info: write, warn: write, error: write } as unknown as Logger,
    onStop,
  });
  server.start();
  return { server, clock, lines };
}

it('ends when everything in progress has ended', async () => {
  const { server, lines } = start(async () => {});
  await vi.waitFor(() => expect(server.port).toBeDefined(), 10_000);
  await server.stop();
  expect(lines.at(-1)).not.toContain('did not end');
});

it('a request that hangs does not delay the process, nor the Lease of DHCP', async () => {
  const { server, clock, lines } = start(() => new Promise(() => {}));
  await vi.waitFor(() => expect(server.port).toBeDefined(), 10_000);
  let isStopped = false;
  const stopped = server.stop().then(() => {
    isStopped = true;
  });
  await clock.advance(2_999);
  expect(isStopped).toBe(false);
  await clock.advance(1);
  await stopped;
  expect(lines.at(-1)).toContain('did not end within 3 s');
});
