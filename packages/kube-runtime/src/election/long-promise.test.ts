/** A record that promises more than any leader does, as a migration writes it. */
import { expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { settle } from '../testing/settle.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseStore } from './lease-store.js';

const WEEK_MS = 604_800_000;
const HOUR_MS = 3_600_000;

async function begin() {
  const clock = new FakeClock();
  const memory = new MemoryLeaseStore();
  const deleted = { isDeleted: false };
  const store: LeaseStore = {
    read: async () => (deleted.isDeleted ? undefined : await memory.read()),
    write: async (record, version) => {
      const written = await memory.write(record, deleted.isDeleted ? memory.stored?.version : version);
      deleted.isDeleted = deleted.isDeleted && written === undefined;
      return written;
    },
  };
  const elector = (identity: string) =>
    new LeaseElector({
      ...{ leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0, identity, clock },
      store,
      onLeading: () => undefined,
      onLost: () => undefined,
    });
  await store.write({ holder: 'nobody-leads', leaseDurationMs: WEEK_MS, transitions: 1 }, undefined);
  const standby = elector('standby');
  standby.start();
  await settle();
  await clock.advance(10_000);
  return { clock, store, deleted, elector, standby };
}

it('holds as long as it stands', async () => {
  const { clock, standby } = await begin();
  await clock.advance(30 * HOUR_MS);
  expect(standby.isLeading()).toBe(false);
});

it('is not held against a later leader, though the standby missed that it was released', async () => {
  const { clock, store, elector, standby } = await begin();
  const taken = await store.read();
  await store.write({ holder: '', leaseDurationMs: WEEK_MS, transitions: 1 }, taken?.version);
  const next = elector('next');
  next.start();
  await settle();
  await clock.advance(60_000);
  expect([next.isLeading(), standby.isLeading()]).toEqual([true, false]);
  await next.stop(() => Promise.resolve(false));
  await clock.advance(HOUR_MS);
  expect(standby.isLeading()).toBe(true);
});

it('does not outlive the record by more than an hour, if somebody deletes that', async () => {
  const { clock, deleted, standby } = await begin();
  deleted.isDeleted = true;
  await clock.advance(HOUR_MS - 60_000);
  expect(standby.isLeading()).toBe(false);
  await clock.advance(120_000);
  expect(standby.isLeading()).toBe(true);
});
