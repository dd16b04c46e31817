/** The wall clock of a bare host is set back, as NTP does after a start with a wrong clock. */

import { ConflictProbes, DhcpServer } from '@vmdhcp/dhcp-agent/packet-path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type BareHostPacketParts, createBareHostInterface } from './bare-host-interface.js';

const HOUR_MS = 3_600_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_800_000_000_000 }));
afterEach(() => vi.useRealTimers());

it('an interface that could not be opened is tried again a second later, although the clock was set back by an hour', async () => {
  const observer = { observe: () => undefined };
  const findUsers = async () => ({ byClient: false, others: [] });
  const server = new DhcpServer({
    ...{ observer, nowMs: Date.now, findUsers, onDeclined: () => undefined, onBindingChanged: () => undefined },
  });
  const conflictProbes = new ConflictProbes({
    ...{ observer, nowMs: () => performance.now(), isLeader: () => true, findUsers },
    ...{ onConflict: () => undefined, inject: () => undefined },
  });
  let tries = 0;
  const served = createBareHostInterface(
    {
      name: 'lo',
      pools: () => [],
      prepare: async () => {
        tries++;
        throw new Error('ENOBUFS');
      },
    },
    { log: observer, server, conflictProbes, metrics: {}, onStateChange: () => undefined } as unknown as BareHostPacketParts,
  );
  await served.check();
  expect([tries, served.state.kind]).toEqual([1, 'failed']);
  vi.setSystemTime(Date.now() - HOUR_MS);
  // Ten minutes by any clock, in the steps of the agent.
  for (let second = 0; second < 600; second++) {
    vi.advanceTimersByTime(1_000);
    await served.check();
  }
  served.stop();
  expect(tries, 'tries in ten minutes').toBeGreaterThan(100);
});
