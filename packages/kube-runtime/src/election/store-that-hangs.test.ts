import { expect, it } from 'vitest';
import { runParts } from '../parts/run-parts.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseStore } from './lease-store.js';

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, random: () => 0 };

function hanging(clock: FakeClock) {
  const memory = new MemoryLeaseStore();
  const way = { hangs: 0 };
  const store: LeaseStore = {
    read: memory.read,
    write: (record, version) => {
      if (way.hangs === 0) return memory.write(record, version);
      way.hangs--;
      return new Promise(() => undefined);
    },
  };
  return { way, store, clock };
}

it('one renewal that is never answered does not end the leadership', async () => {
  const clock = new FakeClock();
  const { way, store } = hanging(clock);
  const log: string[] = [];
  const elector = new LeaseElector({
    ...TIMES,
    identity: 'a',
    store,
    clock,
    onLeading: () => log.push('leads'),
    onLost: () => log.push(`lost at ${clock.nowMs()}`),
  });
  elector.start();
  await clock.advance(5_000);
  way.hangs = 1;
  await clock.advance(60_000);
  expect(log).toEqual(['leads']);
});

it('a run stops within drainMs, whatever the store does', async () => {
  const clock = new FakeClock();
  const { way, store } = hanging(clock);
  const run = runParts({ clock, parts: [], drainMs: 5_000, election: { ...TIMES, identity: 'a', store } });
  run.start();
  await clock.advance(5_000);
  way.hangs = Number.POSITIVE_INFINITY;
  await clock.advance(2_500);
  let stopped = false;
  void run.stop().then(() => {
    stopped = true;
  });
  await clock.advance(60_000);
  expect(stopped).toBe(true);
});
