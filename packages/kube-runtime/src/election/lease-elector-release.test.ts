import { expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { settle } from '../testing/settle.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseStore } from './lease-store.js';

const TIMES = { leaseDurationMs: 45_000, renewDeadlineMs: 30_000, retryPeriodMs: 2_000, random: () => 0 };

function slow(store: LeaseStore, clock: FakeClock, delayMs: number): LeaseStore {
  const travel = () => new Promise<void>((resolve) => clock.after(delayMs, resolve));
  return {
    read: async () => {
      await travel();
      return store.read();
    },
    write: async (record, version) => {
      await travel();
      const written = await store.write(record, version);
      await travel();
      return written;
    },
  };
}

it('an elector that is stopped during a renewal still releases the lease', async () => {
  const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
  const make = (identity: string) =>
    new LeaseElector({
      ...TIMES,
      identity,
      store: slow(store, clock, 20),
      clock,
      onLeading: () => log.push(`${clock.nowMs()} ${identity} leads`),
      onLost: () => log.push(`${clock.nowMs()} ${identity} lost`),
    });
  const [a, b] = [make('a'), make('b')];
  a.start();
  await clock.advance(100);
  b.start();
  // Until a renewal is under way.
  await clock.advance(1_970);
  void a.stop();
  await clock.advance(10_000);
  await settle();
  expect(log.at(-1), log.join('; ')).toMatch(/b leads/);
});

it('a release that is observed while a read is under way is not forgotten', async () => {
  const [clock, store, log] = [new FakeClock(), new MemoryLeaseStore(), [] as string[]];
  const make = (identity: string, delayMs: number) =>
    new LeaseElector({
      ...TIMES,
      identity,
      store: slow(store, clock, delayMs),
      clock,
      onLeading: () => log.push(`${clock.nowMs()} ${identity} leads`),
      onLost: () => undefined,
    });
  // b's read reaches the server at once, its answer takes 100 ms.
  const late: LeaseStore = {
    read: async () => {
      const stored = await store.read();
      await new Promise<void>((resolve) => clock.after(100, resolve));
      return stored;
    },
    write: store.write,
  };
  const a = make('a', 0);
  a.start();
  await clock.advance(10);
  const b = new LeaseElector({
    ...TIMES,
    identity: 'b',
    store: late,
    clock,
    onLeading: () => log.push(`${clock.nowMs()} b leads`),
    onLost: () => undefined,
  });
  b.start();
  await clock.advance(50);
  void a.stop();
  await clock.advance(1);
  b.tryNow();
  await clock.advance(300);
  expect(log.at(-1)).toMatch(/b leads/);
});
