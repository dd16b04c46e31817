import { expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseRecord, LeaseStore, StoredLease } from './lease-store.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };

/** A record that can be deleted, and that can be out of reach. */
class Store implements LeaseStore {
  stored: StoredLease | undefined;
  cut = false;
  #writes = 0;
  readonly read = async () => {
    if (this.cut) throw new Error('no way');
    return this.stored;
  };
  readonly write = async (record: LeaseRecord, version: string | undefined) => {
    if (this.cut) throw new Error('no way');
    if (this.stored?.version !== version) return undefined;
    this.stored = { record, version: String(++this.#writes) };
    return this.stored;
  };
}

const electorOf = (identity: string, store: LeaseStore, clock: FakeClock) =>
  new LeaseElector({ ...TIMES, identity, store, clock, onLeading: () => undefined, onLost: () => undefined });

it('fact 16: a deleted record does not set the term back', async () => {
  const [clock, store] = [new FakeClock(), new Store()];
  store.stored = { record: { holder: '', leaseDurationMs: 3_000, transitions: 7 }, version: 'first' };
  const elector = electorOf('a', store, clock);
  elector.start();
  await clock.advance(10);
  expect(elector.term).toBe(8);
  store.stored = undefined;
  await clock.advance(1_000);
  expect(elector.isLeading()).toBe(true);
  expect(elector.term).toBeGreaterThanOrEqual(8);
});

it('fact 16: another process that creates a deleted record again has a greater term than the leader before', async () => {
  const [clock, store] = [new FakeClock(), new Store()];
  store.stored = { record: { holder: 'a', leaseDurationMs: 3_000, transitions: 7 }, version: 'first' };
  const elector = electorOf('b', store, clock);
  elector.start();
  await clock.advance(1_000);
  store.stored = undefined;
  await clock.advance(10_000);
  expect(elector.isLeading()).toBe(true);
  expect(elector.term).toBeGreaterThan(7);
});

it('fact 16: leadership that is lost and gained again has a new term', async () => {
  const [clock, store] = [new FakeClock(), new Store()];
  const elector = electorOf('a', store, clock);
  elector.start();
  await clock.advance(10);
  const before = elector.term as number;
  store.cut = true;
  await clock.advance(5_000);
  expect(elector.term).toBeUndefined();
  store.cut = false;
  await clock.advance(5_000);
  expect(elector.term).toBeGreaterThan(before);
});
