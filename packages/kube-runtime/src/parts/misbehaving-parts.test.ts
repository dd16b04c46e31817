import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import type { ControllerPart } from './controller-part.js';
import { type PartsRun, runParts } from './run-parts.js';

const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => {
  process.off('unhandledRejection', note);
});
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function part(name: string, log: string[], calls: Partial<ControllerPart> = {}): ControllerPart {
  return {
    name,
    synced: true,
    start: () => void log.push(`${name} start`),
    lead: () => void log.push(`${name} lead`),
    stop: async () => void log.push(`${name} stop`),
    ...calls,
  };
}

it('a part is not started after it was stopped, although the part before it stops the run', async () => {
  const [clock, log] = [new FakeClock(), [] as string[]];
  const run: PartsRun = runParts({ clock, parts: [part('a', log, { start: () => void run.stop() }), part('b', log)] });
  run.start();
  await clock.advance(10);
  expect(log.indexOf('b start')).toBe(-1);
});

it('no part leads after the run was stopped in onLeading', async () => {
  const [clock, log] = [new FakeClock(), [] as string[]];
  const run: PartsRun = runParts({ clock, parts: [part('a', log)], onLeading: () => void run.stop() });
  run.start();
  await clock.advance(10);
  expect(log).toEqual(['a start', 'a stop']);
});

it('a throwing onStopProblem does not keep the run from ending', async () => {
  const [clock, log] = [new FakeClock(), [] as string[]];
  const bad = part('a', log, { stop: () => Promise.reject(new Error('no')) });
  const run = runParts({
    clock,
    parts: [bad],
    onStopProblem: () => {
      throw new Error('boom');
    },
  });
  run.start();
  let ended = false;
  void run.ended.then(() => {
    ended = true;
  });
  run.stop().catch(() => undefined);
  await clock.advance(60_000);
  await turn();
  expect(unhandled).toEqual([]);
  expect(ended).toBe(true);
});

it('a throwing onLeading ends the run: no process keeps a Lease and does nothing', async () => {
  const [clock, log] = [new FakeClock(), [] as string[]];
  const store = new MemoryLeaseStore();
  const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };
  const run = runParts({
    clock,
    parts: [part('one', log)],
    election: { ...times, identity: 'a', store },
    onLeading: () => {
      throw new Error('boom');
    },
  });
  let end: unknown;
  void run.ended.then((why) => {
    end = why;
  });
  run.start();
  await clock.advance(60_000);
  expect([run.isLeading(), log]).toEqual([false, ['one start', 'one stop']]);
  expect(end).toMatchObject({ kind: 'failed', part: 'onLeading' });
});
