import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { settle } from '../testing/settle.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseElectorSettings } from './lease-elector-settings.js';
import type { LeaseStore, StoredLease } from './lease-store.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };

/** Two replicas and a record that both watch. */
class Story {
  readonly clock = new FakeClock();
  readonly memory = new MemoryLeaseStore();
  readonly log: string[] = [];
  readonly reads: Record<string, number> = { a: 0, b: 0 };
  readonly writes: Record<string, number> = { a: 0, b: 0 };
  readonly electors = new Map<string, LeaseElector>();
  watchLagMs = 0;
  /** How much later the answers to writes come than watch events. */
  answerMs = 0;

  replica(identity: string, extra: Partial<LeaseElectorSettings> = {}): LeaseElector {
    const store: LeaseStore = {
      read: () => {
        this.reads[identity] = (this.reads[identity] ?? 0) + 1;
        return this.memory.read();
      },
      write: async (record, version) => {
        this.writes[identity] = (this.writes[identity] ?? 0) + 1;
        const written = await this.memory.write(record, version);
        if (written !== undefined) this.#tell(written);
        if (this.answerMs > 0) await new Promise<void>((resolve) => this.clock.after(this.answerMs, resolve));
        return written;
      },
    };
    const elector = new LeaseElector({
      ...TIMES,
      identity,
      store,
      clock: this.clock,
      onLeading: () => this.log.push(`${this.clock.nowMs()} ${identity} leads`),
      onLost: () => this.log.push(`${this.clock.nowMs()} ${identity} lost`),
      ...extra,
    });
    this.electors.set(identity, elector);
    elector.start();
    return elector;
  }

  #tell(stored: StoredLease): void {
    this.clock.after(this.watchLagMs, () => {
      for (const elector of this.electors.values()) elector.observe(stored);
    });
  }
}

async function begin(extra: Readonly<Record<string, Partial<LeaseElectorSettings>>> = {}) {
  const story = new Story();
  const a = story.replica('a', extra['a']);
  await settle();
  const b = story.replica('b', extra['b']);
  await story.clock.advance(1_000);
  return { story, a, b };
}

describe('an elector whose record is watched', () => {
  it('reads nothing while the leader renews', async () => {
    const { story } = await begin();
    const { b: before = 0 } = story.reads;
    await story.clock.advance(60_000);
    expect(story.reads['b']).toBe(before);
    expect(story.log).toEqual(['0 a leads']);
  });

  it('takes the record when it has not changed for its duration', async () => {
    const { story, a } = await begin();
    await story.clock.advance(5_000);
    story.electors.delete('a');
    void a.stop(async () => false);
    await story.clock.advance(3_100);
    expect(story.log.at(-1)).toMatch(/ b leads$/);
    const [tookAtMs = 0] = (story.log.at(-1) ?? '').split(' ').map(Number);
    expect(tookAtMs).toBeGreaterThanOrEqual(6_000 + 3_000 - 500);
  });

  it('does not acquire a Lease that has a holder because of a watch that lags', async () => {
    const { story } = await begin();
    story.watchLagMs = 2_500;
    await story.clock.advance(60_000);
    expect(story.log).toEqual(['0 a leads']);
  });
});

describe('a leader that resigns', () => {
  it('is followed by the other one at once, when it has finished', async () => {
    const { story, a } = await begin({ a: { handicapMs: () => 1_000 } });
    void a.resign(async () => {
      story.log.push(`${story.clock.nowMs()} a has finished`);
      return true;
    });
    await story.clock.advance(100);
    expect(story.log.slice(1)).toEqual(['1000 a has finished', '1000 a lost', '1000 b leads']);
    await story.clock.advance(10_000);
    expect(story.log).toHaveLength(4);
  });

  it('that could not finish lets the record expire', async () => {
    const { story, a } = await begin({ a: { handicapMs: () => 1_000 } });
    void a.resign(async () => false);
    await story.clock.advance(2_000);
    expect(story.log.slice(1)).toEqual(['1000 a lost']);
    await story.clock.advance(2_000);
    expect(story.log.at(-1)).toMatch(/ b leads$/);
  });

  it('with a handicap lets others go first, and leads again if there are none', async () => {
    const story = new Story();
    const a = story.replica('a', { handicapMs: () => (story.clock.nowMs() < 1_000 ? 0 : 1_500) });
    await story.clock.advance(1_000);
    void a.resign(async () => true);
    await story.clock.advance(1_400);
    expect(story.log.slice(1)).toEqual(['1000 a lost']);
    await story.clock.advance(1_000);
    expect(story.log.at(-1)).toMatch(/ a leads$/);
  });

  it('is followed late by one with a handicap, although that one has seen the record free before', async () => {
    const story = new Story();
    await story.memory.write({ holder: '', leaseDurationMs: 3_000, transitions: 0 }, undefined);
    story.replica('b', { handicapMs: () => 1_500 });
    await settle();
    const a = story.replica('a', { handicapMs: () => (story.clock.nowMs() < 10_000 ? 0 : 60_000) });
    await story.clock.advance(10_000);
    void a.resign(async () => true);
    await story.clock.advance(1_400);
    expect(story.log).toEqual(['0 a leads', '10000 a lost']);
    await story.clock.advance(1_000);
    expect(story.log.at(-1)).toMatch(/ b leads$/);
  });

  it('goes on with one attempt at a time: as many writes as before', async () => {
    const story = new Story();
    story.answerMs = 20;
    const a = story.replica('a');
    await story.clock.advance(10_000);
    const { a: before = 0 } = story.writes;
    for (let turn = 0; turn < 5; turn++) {
      void a.resign(async () => true);
      await story.clock.advance(2_000);
    }
    const { a: after = 0 } = story.writes;
    await story.clock.advance(10_000);
    expect((story.writes['a'] ?? 0) - after).toBeLessThanOrEqual(before + 1);
  });
});
