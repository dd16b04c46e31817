import { validatePool } from '@vmdhcp/dhcp-allocator';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { OpenLeases } from './open-leases.js';

function poolOf(dynamic: readonly string[]) {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.2', dynamic });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

async function openLeases(): Promise<OpenLeases> {
  const clock = new FakeClock();
  const nothing = async () => undefined;
  const open = new OpenLeases({
    ...{ clock, nowMs: clock.nowMs, logger: { info: () => {}, warn: () => {}, error: () => {} }, onRecorded: () => {} },
    hasRecords: () => true,
    openRecords: async () => ({
      tables: new Map(),
      reports: [],
      store: { isLong: () => false, append: nothing, replace: nothing, close: nothing },
    }),
  });
  await open.prepare([poolOf(['10.0.0.10-10.0.0.11'])]);
  open.setPool({ pool: poolOf(['10.0.0.10-10.0.0.11']), assignments: [], probes: false });
  return open;
}

it('a pool that leases to unknown clients no longer (spec.ipv4Config.dynamic was removed) is not counted as an exhausted one', async () => {
  const open = await openLeases();
  open.setPool({ pool: poolOf([]), assignments: [], probes: false });
  const exhausted = [...open.counts()].filter(([, { free }]) => free === 0).map(([name]) => name);
  expect(exhausted).toEqual([]);
});
