import type { Logger } from '@vmdhcp/service-process';
import { expect, it } from 'vitest';
import { createServerLog } from './server-log.js';

function start() {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const write = (fields: Record<string, unknown>) => lines.push(fields);
  const log = createServerLog({ warn: write, error: write } as unknown as Logger, () => nowMs);
  const refuse = (remoteAddress: string, message: string) =>
    log({ kind: 'connection-refused', reason: 'handshake-failed', remoteAddress, message });
  return { lines, log, refuse, pass: (ms: number) => (nowMs += ms) };
}

it('a peer that is refused with another text each time causes twenty lines, then one in ten seconds, and others have their own limit', () => {
  const { lines, refuse, pass } = start();
  for (let count = 0; count < 10_000; count++) refuse('192.0.2.66', `error ${count}`);
  expect(lines).toHaveLength(20);
  refuse('192.0.2.7', 'it has expired');
  expect(lines.at(-1)).toMatchObject({ remoteAddress: '192.0.2.7', message: 'it has expired', linesLeftOut: 9_980 });
  pass(10_000);
  refuse('192.0.2.66', 'error');
  expect(lines).toHaveLength(22);
});

it('a hundred thousand unreadable reports cause twenty lines', () => {
  const { lines, log } = start();
  for (let count = 0; count < 100_000; count++) log({ kind: 'report-malformed', problems: ['mac_address is not a MAC address'] });
  expect(lines).toHaveLength(20);
});
