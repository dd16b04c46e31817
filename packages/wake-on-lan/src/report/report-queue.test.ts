import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReportDelivery, type ReportEnd, ReportQueue, type ReportQueueSettings } from './report-queue.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const BROKEN = '02:ff:00:00:00:00';
const macOf = (number: number) =>
  `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 0xff).toString(16).padStart(2, '0')}`;
const UNAVAILABLE: ReportDelivery<string> = { kind: 'unavailable', message: 'no manager' };
const LATER: ReportDelivery<string> = { kind: 'later', message: 'too many' };
const STARTED: ReportDelivery<string> = { kind: 'answered', answer: 'started' };

/** A queue on a fake clock, with a manager that answers with the result of `manager`. */
class Story {
  nowMs = 0;
  manager: (macAddress: string) => ReportDelivery<string> | Promise<ReportDelivery<string>> = () => STARTED;
  readonly reports: string[] = [];
  readonly delayed: string[] = [];
  readonly ends: [string, ReportEnd<string>][] = [];
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  readonly queue: ReportQueue<string, string>;

  constructor(settings: Partial<ReportQueueSettings> = {}) {
    this.queue = new ReportQueue(
      { capacity: 1_000, keepMs: 120_000, atOnce: 16, ...settings },
      {
        nowMs: () => this.nowMs,
        after: (delayMs, run) => {
          const timer = { atMs: this.nowMs + delayMs, run };
          this.#timers.add(timer);
          return () => this.#timers.delete(timer);
        },
        pauseMs: (failures) => Math.min(5_000, 100 * 2 ** (failures - 1)),
        deliver: async ({ sighting: { macAddress } }) => {
          this.reports.push(macAddress);
          return this.manager(macAddress);
        },
        onDelayed: ({ sighting }) => this.delayed.push(sighting.macAddress),
        onEnd: ({ sighting }, end) => this.ends.push([sighting.macAddress, end]),
      },
    );
  }

  get kinds(): string[] {
    return this.ends.map(([, end]) => (end.kind === 'answered' ? end.answer : end.reason));
  }

  get timers(): number {
    return this.#timers.size;
  }

  hear(macAddress: string): void {
    this.queue.add({ sighting: { macAddress, firstSeenMs: this.nowMs }, facts: 'facts' });
  }

  /** Lets promises settle. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }

  async pass(durationMs: number): Promise<void> {
    const endMs = this.nowMs + durationMs;
    await this.settle();
    for (;;) {
      const next = [...this.#timers].toSorted((one, other) => one.atMs - other.atMs)[0];
      if (next === undefined || next.atMs > endMs) break;
      this.#timers.delete(next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.run();
      await this.settle();
    }
    this.nowMs = endMs;
  }
}

describe('ReportQueue', () => {
  it('a wake-up is reported at once, and ends with its answer', async () => {
    const story = new Story();
    story.hear(VM_A);
    await story.settle();
    expect(story.reports).toEqual([VM_A]);
    expect(story.ends).toEqual([[VM_A, { kind: 'answered', answer: 'started' }]]);
    expect([story.queue.size, story.timers]).toEqual([0, 0]);
  });

  it('the manager is killed between two reports: the second one waits for the next manager, and each is answered once', async () => {
    const story = new Story();
    story.hear(VM_A);
    await story.settle();
    story.manager = () => UNAVAILABLE;
    story.hear(VM_B);
    await story.pass(700);
    expect(story.delayed).toEqual([VM_B]);
    expect(story.reports.filter((one) => one === VM_A)).toHaveLength(1);
    story.manager = () => STARTED;
    story.queue.managerIsReachable();
    await story.settle();
    expect(story.ends.map(([mac]) => mac)).toEqual([VM_A, VM_B]);
  });

  it('no manager for a minute: the queue keeps trying with pauses of at most five seconds, and then the wake-up is answered exactly once', async () => {
    const story = new Story();
    story.manager = () => UNAVAILABLE;
    story.hear(VM_A);
    await story.pass(60_000);
    const tries = story.reports.length;
    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(25);
    story.manager = () => STARTED;
    await story.pass(5_000);
    expect(story.kinds).toEqual(['started']);
    expect(story.reports).toHaveLength(tries + 1);
    await story.pass(120_000);
    expect(story.reports).toHaveLength(tries + 1);
  });

  it('a manager that is back gets waiting wake-ups at once, not after the pause', async () => {
    const story = new Story();
    story.manager = () => UNAVAILABLE;
    for (let number = 0; number < 100; number++) story.hear(macOf(number));
    await story.pass(30_000);
    story.manager = () => STARTED;
    story.queue.managerIsReachable();
    await story.settle();
    await story.pass(0);
    await story.pass(0);
    expect(story.ends).toHaveLength(100);
  });

  it('the answer is lost after the manager accepted: the wake-up is reported again, and ends as a duplicate', async () => {
    const story = new Story();
    let accepted = 0;
    story.manager = () => {
      accepted++;
      return accepted === 1 ? { kind: 'unavailable', message: 'deadline' } : { kind: 'answered', answer: 'duplicate' };
    };
    story.hear(VM_A);
    await story.pass(200);
    expect(story.kinds).toEqual(['duplicate']);
    expect(accepted).toBe(2);
  });

  it('after two minutes without a manager a wake-up is given up, with the last reason; the next packet is a new wake-up', async () => {
    const story = new Story();
    story.manager = () => UNAVAILABLE;
    story.hear(VM_A);
    await story.pass(119_999);
    expect(story.ends).toEqual([]);
    await story.pass(2);
    expect(story.ends).toEqual([[VM_A, { kind: 'given-up', reason: 'too-old', lastFailure: 'no manager' }]]);
    story.manager = () => STARTED;
    story.hear(VM_A);
    await story.pass(10_000);
    expect(story.kinds).toEqual(['too-old', 'started']);
  });

  it('a report in progress when the two minutes are over is given up only without its answer', async () => {
    for (const [last, end] of [
      [STARTED, 'started'],
      [UNAVAILABLE, 'too-old'],
    ] as const) {
      const story = new Story();
      let answer: (delivery: ReportDelivery<string>) => void = () => {};
      story.manager = () => new Promise((resolve) => (answer = resolve));
      story.hear(VM_A);
      await story.pass(121_000);
      expect(story.ends).toEqual([]);
      answer(last);
      await story.pass(1);
      expect(story.kinds).toEqual([end]);
    }
  });

  it('while no manager answers, one wake-up at a time is tried, however many wait', async () => {
    const story = new Story();
    story.manager = () => UNAVAILABLE;
    for (let number = 0; number < 500; number++) story.hear(macOf(number));
    await story.settle();
    expect(story.reports).toHaveLength(16);
    await story.pass(30_000);
    expect(story.reports.length).toBeLessThan(40);
  });

  it('one wake-up whose decision fails delays the others only for a moment', async () => {
    const story = new Story();
    story.manager = (mac) => (mac === BROKEN ? UNAVAILABLE : STARTED);
    story.hear(BROKEN);
    for (let number = 0; number < 100; number++) story.hear(macOf(number));
    await story.pass(1_000);
    expect(story.ends).toHaveLength(100);
  });

  it('a hundred postponed wake-ups delay no other one, and are tried again', async () => {
    const story = new Story();
    const later = new Set(Array.from({ length: 100 }, (_, number) => macOf(1_000 + number)));
    story.manager = (mac) => (later.has(mac) ? LATER : STARTED);
    for (const mac of later) story.hear(mac);
    await story.pass(10_000);
    story.hear(VM_A);
    await story.pass(10);
    expect(story.ends.map(([mac]) => mac)).toEqual([VM_A]);
    later.clear();
    await story.pass(10_000);
    expect(story.ends).toHaveLength(101);
    await story.pass(50);
    expect(story.timers).toBe(0);
  });

  it('a thousand postponed wake-ups cause at most twenty reports a second', async () => {
    const story = new Story();
    story.manager = () => LATER;
    for (let number = 0; number < 1_000; number++) story.hear(macOf(number));
    await story.pass(10_000);
    expect(story.reports.length).toBeLessThanOrEqual(1_000 + 200);
    expect(story.reports.length).toBeGreaterThan(1_000 + 100);
  });

  it('a postponed wake-up is tried with growing pauses, and given up after two minutes', async () => {
    const story = new Story();
    story.manager = () => LATER;
    story.hear(VM_A);
    await story.pass(120_001);
    expect(story.reports.length).toBeLessThan(32);
    expect(story.delayed).toEqual([VM_A]);
    expect(story.ends).toEqual([[VM_A, { kind: 'given-up', reason: 'too-old', lastFailure: 'too many' }]]);
    await story.pass(50);
    expect(story.timers).toBe(0);
  });

  it('two packets of one machine are one report', async () => {
    const story = new Story();
    story.manager = () => UNAVAILABLE;
    story.hear(VM_A);
    story.hear(VM_A);
    await story.pass(1);
    expect(story.queue.size).toBe(1);
    story.manager = () => STARTED;
    await story.pass(1_000);
    expect(story.kinds).toEqual(['started']);
  });

  it('when it is full, the wake-up that has waited longest is removed', async () => {
    const story = new Story({ capacity: 10 });
    story.manager = () => UNAVAILABLE;
    for (let number = 0; number < 12; number++) {
      story.hear(macOf(number));
      await story.pass(10);
    }
    expect(story.queue.size).toBe(10);
    expect(story.ends.map(([mac]) => mac)).toEqual([macOf(0), macOf(1)]);
    expect(story.kinds).toEqual(['queue-full', 'queue-full']);
    story.manager = () => STARTED;
    story.queue.managerIsReachable();
    await story.pass(1);
    expect(story.queue.size).toBe(0);
  });

  it('after its end it reports nothing and has no timer', async () => {
    const story = new Story();
    story.manager = () => UNAVAILABLE;
    story.hear(VM_A);
    await story.pass(50);
    story.manager = () => LATER;
    story.queue.managerIsReachable();
    await story.settle();
    story.queue.stop();
    expect(story.timers).toBe(0);
    await story.pass(60_000);
    expect(story.reports).toHaveLength(2);
  });

  it('law: in any story of packets, managers and time, each wake-up ends exactly once, and memory is bounded', async () => {
    const step = fc.oneof(
      fc.nat(30).map((number) => ({ kind: 'hear', number }) as const),
      fc.constantFrom(STARTED, UNAVAILABLE, LATER).map((delivery) => ({ kind: 'manager', delivery }) as const),
      fc.integer({ min: 1, max: 130_000 }).map((durationMs) => ({ kind: 'pass', durationMs }) as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const story = new Story({ capacity: 8, atOnce: 2 });
        let heard = 0;
        for (const one of steps) {
          if (one.kind === 'hear') {
            const before = story.queue.size + story.ends.length;
            story.hear(macOf(one.number));
            heard += story.queue.size + story.ends.length - before;
          } else if (one.kind === 'pass') await story.pass(one.durationMs);
          else {
            story.manager = () => one.delivery;
            if (one.delivery !== UNAVAILABLE) story.queue.managerIsReachable();
          }
          expect(story.queue.size).toBeLessThanOrEqual(8);
        }
        await story.pass(130_000);
        expect(story.queue.size).toBe(0);
        expect(story.ends).toHaveLength(heard);
        expect(story.timers).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
