import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FramePolling } from './frame-polling.js';

/** A packet socket with frames to read, this many with each call. */
class FakeSocket {
  waiting = 0;
  reads = 0;

  readonly receive = (): number => {
    this.reads++;
    const frames = Math.min(this.waiting, 10);
    this.waiting -= frames;
    return frames;
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('FramePolling', () => {
  it('reads every socket fifty times a second, until it is removed', () => {
    const polling = new FramePolling();
    const [one, other] = [new FakeSocket(), new FakeSocket()];
    const removals = [one, other].map(({ receive }) => polling.add(receive));
    vi.advanceTimersByTime(1_000);
    expect([one.reads, other.reads]).toEqual([50, 50]);
    for (const remove of removals) remove();
    vi.advanceTimersByTime(1_000);
    expect([one.reads, vi.getTimerCount()]).toEqual([50, 0]);
  });

  it('reads again at once while frames come in, on every socket', () => {
    const polling = new FramePolling();
    const [flooded, quiet] = [new FakeSocket(), new FakeSocket()];
    polling.add(flooded.receive);
    polling.add(quiet.receive);
    flooded.waiting = 95;
    const startedAt = Date.now();
    // The first read, and ten more, the last of which finds nothing.
    for (let look = 0; look < 11; look++) vi.advanceTimersToNextTimer();
    // Time of the fake clock, on which an immediate takes a millisecond; the next interval ends after 40.
    expect(Date.now() - startedAt).toBe(30);
    expect(flooded.waiting).toBe(0);
    expect(quiet.reads).toBe(11);
  });
});
