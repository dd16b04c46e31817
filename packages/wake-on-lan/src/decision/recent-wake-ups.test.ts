import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { RecentWakeUps } from './recent-wake-ups.js';
import type { WakeVerdict } from './wake-verdict.js';

const MAC = '02:00:00:00:00:0a' as MacAddress;
const waiting: WakeVerdict = { outcome: 'waiting', reason: 'stopping', message: 'waits' };
const started: WakeVerdict = { outcome: 'started', reason: 'start-accepted', message: 'started' };
const abandoned: WakeVerdict = { outcome: 'abandoned', reason: 'not-down-in-time', message: 'abandoned' };

async function waited(): Promise<RecentWakeUps> {
  const recent = new RecentWakeUps();
  await recent.decide(MAC, 0, async () => waiting);
  return recent;
}

it('a wake-up that had to wait is remembered for ten seconds from its start', async () => {
  const recent = await waited();
  expect(recent.see(MAC, 10_000)).toEqual({ kind: 'new' });
  recent.settle(MAC, 60_000, started);
  expect(recent.see(MAC, 69_999)).toEqual({ kind: 'repeated', verdict: started });
  expect(recent.see(MAC, 70_000)).toEqual({ kind: 'new' });
});

it('a wake-up that waited in vain is forgotten: the next packet is decided again', async () => {
  const recent = await waited();
  recent.settle(MAC, 5_000, abandoned);
  expect(recent.see(MAC, 5_000)).toEqual({ kind: 'new' });
});
