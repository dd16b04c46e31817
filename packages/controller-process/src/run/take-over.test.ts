import { LeaseElector, type LeaseRecord, type LeaseStore } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryLeaseStore } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { readElectionTimes } from './election-times.js';

const TIMES = readElectionTimes({});

interface Candidate {
  readonly elector: LeaseElector;
  /** From here on, none of its requests reaches the store. */
  isDead: boolean;
  leadsSinceMs: number | undefined;
}

/** @param options.requestMs - the duration of each request to the API server. */
function candidate(
  identity: string,
  clock: FakeClock,
  options: { readonly store: MemoryLeaseStore; readonly requestMs: number; readonly random: number },
): Candidate {
  const { store, requestMs, random } = options;
  const travel = async () => {
    if (one.isDead) await new Promise<never>(() => undefined);
    await new Promise<void>((resolve) => clock.after(requestMs / 2, resolve));
  };
  const way: LeaseStore = {
    read: async () => {
      await travel();
      const stored = await store.read();
      await travel();
      return stored;
    },
    write: async (record: LeaseRecord, version: string | undefined) => {
      await travel();
      const written = await store.write(record, version);
      await travel();
      return written;
    },
  };
  const elector = new LeaseElector({
    ...TIMES,
    identity,
    store: way,
    clock,
    random: () => random,
    onLeading: () => {
      one.leadsSinceMs = clock.nowMs();
    },
    onLost: () => undefined,
  });
  const one: Candidate = { elector, isDead: false, leadsSinceMs: undefined };
  return one;
}

/** How long there is no leader after one died. */
async function takeOverMs(deadAtMs: number, requestMs: number, random: number): Promise<number> {
  const [clock, store] = [new FakeClock(), new MemoryLeaseStore()];
  const [leader, standby] = [
    candidate('a', clock, { store, requestMs, random: 0.37 }),
    candidate('b', clock, { store, requestMs, random }),
  ];
  leader.elector.start();
  await clock.advance(1_300);
  standby.elector.start();
  await clock.advance(30_000 + deadAtMs);
  leader.isDead = true;
  const sinceMs = clock.nowMs();
  await clock.advance(60_000);
  expect(standby.leadsSinceMs, 'the other one is leader').toBeDefined();
  return (standby.leadsSinceMs ?? 0) - sinceMs;
}

describe('a controller that dies', () => {
  it.each([0, 0.5, 0.999])(
    'is replaced within 20 s, whenever it dies and with requests of half a second (random %f)',
    async (random) => {
      for (let deadAtMs = 0; deadAtMs < 2_500; deadAtMs += 100) {
        expect(await takeOverMs(deadAtMs, 10, random)).toBeLessThanOrEqual(18_000);
        expect(await takeOverMs(deadAtMs, 500, random)).toBeLessThanOrEqual(20_000);
      }
    },
  );

  it('that is of an earlier version, with a Lease of 45 s, is replaced only after its Lease has expired', async () => {
    const [clock, store] = [new FakeClock(), new MemoryLeaseStore()];
    await store.write({ holder: 'upstream', leaseDurationMs: 45_000, transitions: 0 }, undefined);
    const one = candidate('b', clock, { store, requestMs: 10, random: 0.5 });
    one.elector.start();
    await clock.advance(44_990);
    expect(one.leadsSinceMs).toBeUndefined();
    await clock.advance(3_000);
    expect(one.leadsSinceMs).toBeDefined();
  });
});
