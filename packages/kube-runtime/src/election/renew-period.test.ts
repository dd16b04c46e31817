import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseRecord, LeaseStore, StoredLease } from './lease-store.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };
/** 3,000 ms, and 7.5 s with their spread of a fifth. */
const RARE = { periodMs: 8_000, durationMs: 12_000 };

/** A record whose writes are counted, whose answers can be lost, and that can be out of reach. */
class Store implements LeaseStore {
  stored: StoredLease | undefined;
  writes = 0;
  state: 'well' | 'answers-lost' | 'cut' = 'well';

  readonly read = async () => {
    if (this.state !== 'well') throw new Error('no way');
    return this.stored;
  };

  readonly write = async (record: LeaseRecord, version: string | undefined) => {
    if (this.state === 'cut') throw new Error('no way');
    if (this.stored?.version !== version) return undefined;
    this.stored = { record, version: String(++this.writes) };
    if (this.state === 'answers-lost') throw new Error('connection reset');
    return this.stored;
  };
}

class Story {
  readonly clock = new FakeClock();
  readonly store = new Store();
  renewPeriodMs = RARE.periodMs;
  readonly renewedUntilMs: number[] = [];

  start(identity: string): LeaseElector {
    const elector = new LeaseElector({
      ...TIMES,
      renewPeriodMs: () => this.renewPeriodMs,
      identity,
      store: this.store,
      clock: this.clock,
      onLeading: () => undefined,
      onRenewed: (untilMs) => this.renewedUntilMs.push(untilMs),
      onLost: () => undefined,
    });
    elector.start();
    return elector;
  }
}

describe('a leader that renews rarely', () => {
  it('writes once per period, and its record lasts correspondingly longer', async () => {
    const story = new Story();
    const leader = story.start('a');
    await story.clock.advance(79_999);
    expect(story.store.writes).toBe(10);
    expect(story.store.stored?.record.leaseDurationMs).toBe(RARE.durationMs);
    expect(leader.isLeading()).toBe(true);
    // A second less than the record lasts, just as without a period of its own.
    expect(story.renewedUntilMs.at(-1)).toBe(72_000 + RARE.durationMs - 1_000);
  });

  it.each([0, 100, 500])('never has less than the period of attempts: %i ms', async (periodMs) => {
    const story = new Story();
    story.renewPeriodMs = periodMs;
    story.start('a');
    await story.clock.advance(4_999);
    expect(story.store.writes).toBe(10);
    expect(story.store.stored?.record.leaseDurationMs).toBe(TIMES.leaseDurationMs);
  });

  it('tries again soon when a renewal fails: leadership does not end', async () => {
    const story = new Story();
    const leader = story.start('a');
    await story.clock.advance(7_900);
    story.store.state = 'cut';
    await story.clock.advance(2_000);
    story.store.state = 'well';
    await story.clock.advance(600);
    expect(story.store.writes).toBe(2);
    await story.clock.advance(3_000);
    expect(leader.isLeading()).toBe(true);
  });

  it('is followed by another replica when its record has not changed for its duration', async () => {
    const story = new Story();
    const leader = story.start('a');
    await story.clock.advance(1);
    const next = story.start('b');
    await leader.stop(async () => false);
    await story.clock.advance(RARE.durationMs - 2);
    expect(next.isLeading()).toBe(false);
    await story.clock.advance(600);
    expect(next.isLeading()).toBe(true);
  });
});

describe('a leader that is to renew more often', () => {
  it('keeps its earlier promise: its record lasts at least until then', async () => {
    const story = new Story();
    story.start('a');
    await story.clock.advance(1);
    story.renewPeriodMs = 500;
    const ends: number[] = [];
    for (let write = 0; write < 4; write++) {
      await story.clock.advance(write === 0 ? 7_999 : 500);
      ends.push(story.clock.nowMs() + (story.store.stored?.record.leaseDurationMs ?? 0));
    }
    // The first was promised until 12,000.
    expect(ends).toEqual([12_000, 12_000, 12_000, 12_500]);
  });

  it('has no second leader beside it if the answer to its first short record is lost', async () => {
    const story = new Story();
    const leader = story.start('a');
    await story.clock.advance(1);
    const other = story.start('b');
    await story.clock.advance(7_000);
    story.renewPeriodMs = 500;
    story.store.state = 'answers-lost';
    leader.tryNow();
    await story.clock.advance(1);
    // The leader does not know of its record, and cannot find out.
    await leader.stop(async () => false);
    story.store.state = 'well';
    await story.clock.advance(4_900);
    expect(other.isLeading()).toBe(false);
    await story.clock.advance(1_000);
    expect(other.isLeading()).toBe(true);
  });
});

describe('a record in place of one that was deleted', () => {
  const guard = (version: string): StoredLease => ({
    record: { holder: 'no-one', leaseDurationMs: 3_000, transitions: 0 },
    version,
  });

  it('is not taken before the leadership of the deleted one has ended, however short the new one is', async () => {
    const story = new Story();
    const leader = story.start('a');
    await story.clock.advance(1);
    const other = story.start('b');
    story.store.state = 'cut';
    await leader.stop(async () => false);
    story.store.state = 'well';
    await story.clock.advance(600);
    story.store.stored = guard('guard');
    await story.clock.advance(600);
    // It is annotated: the same holder, another version.
    story.store.stored = guard('guard annotated');
    await story.clock.advance(RARE.durationMs - 1_300);
    expect(other.isLeading()).toBe(false);
    await story.clock.advance(1_000);
    expect(other.isLeading()).toBe(true);
  });
});
