/** Facts 15 to 17, with the Lease as it is stored. `ELECTOR_SEEDS=10000` tries more. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../clock/clock.js';
import { fencedClient, NotLeadingError } from '../election/fenced-client.js';
import { LeaseElector } from '../election/lease-elector.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { type Random, randomFrom } from '../testing/random-from.js';
import type { ApiRequest } from './api-connection.js';
import { ApiLeaseStore } from './api-lease-store.js';
import { LeaseServer } from './lease-server-fixtures.js';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500 };
/** How often a leader may have to renew: it changes at any time. */
const RENEW_PERIODS_MS = [500, 1_000, 4_000, 9_000];
const SEEDS = Number(process.env['ELECTOR_SEEDS'] ?? 120);
const HOUR_MS = 3_600_000;

/** A process with a connection that delays and loses packets, its own wall clock, and an event loop that can block. */
class Process {
  readonly elector: LeaseElector;
  trouble = { mostDelayMs: 0, lossOf100: 0 };
  wallSkewMs = 0;
  renewPeriodMs = TIMES.retryPeriodMs;
  readonly #clock: FakeClock;
  readonly #random: Random;
  #frozen: (() => void)[] | undefined;

  constructor(name: string, { clock, server, random }: { clock: FakeClock; server: LeaseServer; random: Random }) {
    this.#clock = clock;
    this.#random = random;
    const connection = server.connection((request) => this.#request(server, request));
    this.elector = new LeaseElector({
      ...TIMES,
      renewPeriodMs: () => this.renewPeriodMs,
      identity: name,
      clock: this.clock,
      random: () => random(1_000) / 1_000,
      store: new ApiLeaseStore(connection, {
        namespace: 'default',
        name: 'l',
        durationAnnotation: 'example.org/lease-duration-ms',
        wallTimeMs: () => 1.8e12 + clock.nowMs() + this.wallSkewMs,
      }),
      onLeading: () => undefined,
      onLost: () => undefined,
    });
  }

  /** Time passes while the process is frozen. */
  readonly clock: Clock = {
    nowMs: () => this.#clock.nowMs(),
    after: (delayMs, run) => {
      let isOff = false;
      const callOff = this.#clock.after(delayMs, () => this.run(() => isOff || run()));
      return () => {
        isOff = true;
        callOff();
      };
    },
  };

  run(what: () => unknown): void {
    if (this.#frozen === undefined) what();
    else this.#frozen.push(what as () => void);
  }

  freeze(ms: number): void {
    if (this.#frozen !== undefined) return;
    this.#frozen = [];
    this.#clock.after(ms, () => {
      const due = this.#frozen ?? [];
      this.#frozen = undefined;
      for (const run of due) run();
    });
  }

  async #request(server: LeaseServer, request: ApiRequest): Promise<unknown> {
    await this.#travel();
    const answer = await Promise.resolve(request).then((one) => server.answer(one));
    await this.#travel();
    return answer;
  }

  #travel(): Promise<void> {
    const { mostDelayMs, lossOf100 } = this.trouble;
    const delayMs = 1 + this.#random(mostDelayMs + 1);
    const isLost = this.#random(100) < lossOf100;
    return new Promise((resolve, reject) => {
      this.#clock.after(delayMs, () => this.run(() => (isLost ? reject(new Error('connection reset')) : resolve())));
    });
  }
}

/** What may happen to one process. */
function disturb(process: Process, random: Random): void {
  switch (random(7)) {
    case 0:
      process.trouble = { mostDelayMs: random(3_000), lossOf100: random(60) };
      return;
    case 1:
      process.freeze(random(6_000));
      return;
    case 2:
      process.wallSkewMs = random(2 * HOUR_MS) - HOUR_MS;
      return;
    case 3:
      process.elector.tryNow();
      return;
    case 4:
      process.renewPeriodMs = RENEW_PERIODS_MS[random(RENEW_PERIODS_MS.length)] as number;
      return;
    default:
      process.trouble = { mostDelayMs: 0, lossOf100: 0 };
  }
}

async function play(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const clock = new FakeClock();
  const server = new LeaseServer();
  const processes = ['a', 'b'].map((name) => new Process(name, { clock, server, random }));
  const [a, b] = processes as [Process, Process];
  /** Terms in which writes were sent, and by whom. */
  const sent = new Map<number, Process>();
  let lastTerm = -1;
  const writeAll = () => {
    for (const process of processes) {
      process.run(() => {
        const { term } = process.elector;
        if (term === undefined) return;
        expect(a.elector.isLeading() && b.elector.isLeading(), `seed ${seed}: two leaders at ${clock.nowMs()}`).toBe(false);
        expect(term, `seed ${seed}: an older term writes`).toBeGreaterThanOrEqual(lastTerm);
        expect(sent.get(term) ?? process, `seed ${seed}: a term of two processes`).toBe(process);
        sent.set(term, process);
        lastTerm = term;
      });
    }
  };
  for (const process of processes) process.elector.start();
  for (let turn = 0; turn < 25; turn++) {
    disturb(processes[random(2)] as Process, random);
    for (let step = random(6); step >= 0; step--) {
      await clock.advance(1 + random(400));
      writeAll();
    }
  }
  for (const process of processes) process.trouble = { mostDelayMs: 0, lossOf100: 0 };
  // A little longer than the longest record.
  await clock.advance(25_000);
  writeAll();
  expect(processes.filter(({ elector }) => elector.isLeading()).length, `seed ${seed}: leaders in the end`).toBe(1);
  expect(sent.size).toBeGreaterThan(0);
}

describe('two electors and one Lease', () => {
  it('facts 15 and 17, law: whatever is delayed, lost or frozen, and whatever the wall clocks show, no two processes write in one term, no older term writes after a newer one, and in the end one is leader', async () => {
    for (let seed = 1; seed <= SEEDS; seed++) await play(seed);
  }, 600_000);

  it.each([HOUR_MS, -HOUR_MS])('fact 15: a wall clock that is %i ms off does not affect leadership', async (skewMs) => {
    const clock = new FakeClock();
    const server = new LeaseServer();
    const parts = { clock, server, random: randomFrom(1) };
    const [a, b] = [new Process('a', parts), new Process('b', parts)];
    b.wallSkewMs = skewMs;
    a.elector.start();
    await clock.advance(100);
    b.elector.start();
    for (let turn = 0; turn < 100; turn++) {
      await clock.advance(300);
      expect([a.elector.isLeading(), b.elector.isLeading()]).toEqual([true, false]);
    }
    a.wallSkewMs = skewMs;
    b.wallSkewMs = 0;
    await clock.advance(10_000);
    expect([a.elector.isLeading(), b.elector.term]).toEqual([true, undefined]);
  });

  it('fact 16: after an event loop was blocked for 20 s, every write of the old term is refused, and the next term is greater', async () => {
    const clock = new FakeClock();
    const server = new LeaseServer();
    const parts = { clock, server, random: randomFrom(1) };
    const [a, b] = [new Process('a', parts), new Process('b', parts)];
    const objects = new MemoryResource<KubernetesObject>(clock);
    const client = fencedClient(objects, () => a.elector.isLeading());
    a.elector.start();
    await clock.advance(100);
    b.elector.start();
    expect(a.elector.term).toBe(0);
    a.freeze(20_000);
    await clock.advance(1_900);
    expect(a.elector.isLeading()).toBe(true);
    await clock.advance(18_050);
    const object = { metadata: { name: 'a' } };
    for (const write of [
      client.create(object),
      client.patch({ key: 'a' }, {}),
      client.patchStatus({ key: 'a' }, {}),
      client.delete('a', 'u'),
      client.subresource({ key: 'a', name: 'scale', verb: 'patch' }),
    ]) {
      await expect(write).rejects.toThrow(NotLeadingError);
    }
    const read = Promise.all([
      client.list({ limit: 1 }),
      client.get('a'),
      client.subresource({ key: 'a', name: 'scale', verb: 'get' }),
    ]);
    await clock.advance(1);
    expect(await read).toMatchObject([{ items: [] }, undefined, { ok: false, reason: 'not-found' }]);
    expect([a.elector.term, b.elector.term, objects.objects.size]).toEqual([undefined, 1, 0]);
  });
});
