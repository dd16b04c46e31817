import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseStore, StoredLease } from './lease-store.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };

let clock: FakeClock;
let stored: StoredLease | undefined;
let version: number;
let log: string[];

beforeEach(() => {
  clock = new FakeClock();
  stored = undefined;
  version = 0;
  log = [];
});

/** @param isCutOff - true: this process reaches no store. */
function elector(identity: string, isCutOff: () => boolean = () => false): LeaseElector {
  const store: LeaseStore = {
    read: async () => {
      if (isCutOff()) throw new Error('no route to host');
      return stored;
    },
    write: async (record, at) => {
      if (isCutOff()) throw new Error('no route to host');
      if (stored?.version !== at) return undefined;
      stored = { record, version: String(++version) };
      return stored;
    },
  };
  const made = new LeaseElector({
    ...TIMES,
    identity,
    store,
    clock,
    onLeading: () => log.push(`${clock.nowMs()} ${identity} leads`),
    onLost: () => log.push(`${clock.nowMs()} ${identity} lost`),
  });
  made.start();
  return made;
}

describe('a record that was deleted', () => {
  it('is created again by its leader at once, which stays leader', async () => {
    const a = elector('a');
    await clock.advance(1_100);
    stored = undefined;
    await clock.advance(600);
    expect(stored).toMatchObject({ record: { holder: 'a' } });
    await clock.advance(10_000);
    expect([a.isLeading(), log]).toEqual([true, ['0 a leads']]);
  });

  it('is not created by a process that missed the last leader until that leadership is over', async () => {
    let isCutOff = false;
    elector('a');
    await clock.advance(100);
    const b = elector('b', () => isCutOff);
    await clock.advance(1_000);
    isCutOff = true;
    await clock.advance(20_000);
    // `b` last saw a record from before the leadership of `a`, which does not know of the deletion yet.
    stored = undefined;
    isCutOff = false;
    await clock.advance(490);
    expect(b.isLeading()).toBe(false);
    await clock.advance(10_000);
    expect(log).toEqual(['0 a leads']);
  });

  it('is created by another process when it has been missing for its duration', async () => {
    let isGone = false;
    elector('a', () => isGone);
    await clock.advance(100);
    const b = elector('b');
    await clock.advance(20_000);
    isGone = true;
    stored = undefined;
    await clock.advance(3_000);
    expect(b.isLeading()).toBe(false);
    await clock.advance(1_100);
    expect(b.isLeading()).toBe(true);
    const [, lost = '', leads = ''] = log;
    expect([lost.endsWith(' a lost'), leads.endsWith(' b leads')]).toEqual([true, true]);
  });

  it('and created by hand is treated like any other record', async () => {
    let isGone = false;
    elector('a', () => isGone);
    await clock.advance(100);
    const b = elector('b');
    await clock.advance(5_000);
    isGone = true;
    stored = undefined;
    await clock.advance(1_000);
    stored = { record: { holder: '', leaseDurationMs: 3_000, transitions: 0 }, version: '100' };
    await clock.advance(700);
    expect(b.isLeading()).toBe(true);
  });

  it('that never existed is created at once', async () => {
    const a = elector('a');
    await clock.advance(1);
    expect(a.isLeading()).toBe(true);
  });
});
