import { FakeClock, settle } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SeenLease } from '../ports.js';
import { FakeGroupLease, type RequestFate } from './fake-group-lease.js';
import { FakeKernel } from './fake-kernel.js';
import { FakeProcess } from './fake-process.js';

let clock: FakeClock;
let process: FakeProcess;

beforeEach(() => {
  clock = new FakeClock();
  process = new FakeProcess(clock);
});

describe('a fake process', () => {
  it('runs timers when they are due', async () => {
    const times: number[] = [];
    process.after(100, () => times.push(process.nowMs()));
    await clock.advance(200);
    expect(times).toEqual([100]);
  });

  it('that is frozen runs its timers when it wakes', async () => {
    const times: number[] = [];
    process.after(100, () => times.push(process.nowMs()));
    process.freeze(1_000);
    await clock.advance(999);
    expect(times).toEqual([]);
    await clock.advance(1);
    expect(times).toEqual([1_000]);
  });

  it('gets what arrived while it was frozen in order, before its timers', async () => {
    const order: string[] = [];
    process.after(1_000, () => order.push('timer'));
    process.freeze(1_000);
    for (const name of ['first', 'second']) process.deliver(() => order.push(name));
    await clock.advance(1_000);
    expect(order).toEqual(['first', 'second', 'timer']);
  });

  it('that is frozen during a call is ahead of the shared clock', async () => {
    process.freeze(500);
    expect([process.nowMs(), clock.nowMs()]).toEqual([500, 0]);
    const times: number[] = [];
    process.after(100, () => times.push(clock.nowMs()));
    await clock.advance(1_000);
    expect(times).toEqual([600]);
  });

  it('may be frozen at any read of its clock', () => {
    const stalls = [0, 300];
    process.stallMs = () => stalls.shift() ?? 0;
    expect([process.nowMs(), process.nowMs(), process.nowMs(), process.timeMs]).toEqual([0, 300, 300, 300]);
  });

  it('that is dead runs nothing', async () => {
    const ran: string[] = [];
    process.after(100, () => ran.push('timer'));
    process.kill();
    process.deliver(() => ran.push('message'));
    await clock.advance(1_000);
    expect(ran).toEqual([]);
  });

  it('learns how a request ended when it is awake', async () => {
    let outcome = '';
    void process.settled(Promise.resolve('answer')).then((text) => {
      outcome = text;
    });
    process.freeze(100);
    await clock.advance(99);
    expect(outcome).toBe('');
    await clock.advance(1);
    expect(outcome).toBe('answer');
  });

  it('does not run a cancelled timer, frozen or not', async () => {
    let ran = false;
    const callOff = process.after(100, () => {
      ran = true;
    });
    process.freeze(500);
    await clock.advance(200);
    callOff();
    await clock.advance(1_000);
    expect(ran).toBe(false);
  });
});

describe('a fake kernel', () => {
  let kernel: FakeKernel;
  const address = (interfaceIndex = kernel.indexOf('net0')) => ({
    interfaceName: 'net0',
    interfaceIndex,
    address: 2,
    prefixLength: 24,
  });

  beforeEach(() => {
    kernel = new FakeKernel({ owner: 'a', process });
    kernel.callMs = () => 0;
    kernel.addLink('net0');
  });

  it('removes an address by itself when its lifetime is over, even if the process is dead', async () => {
    kernel.add([address()], 2);
    process.kill();
    await clock.advance(1_999);
    expect(kernel.has('net0', 2)).toBe(true);
    await clock.advance(1);
    expect(kernel.has('net0', 2)).toBe(false);
  });

  it('is up to a quarter of a second late', async () => {
    kernel = new FakeKernel({ owner: 'a', process, random: () => 0.999 });
    kernel.addLink('net0');
    kernel.callMs = () => 0;
    kernel.add([address()], 1);
    await clock.advance(1_249);
    expect(kernel.has('net0', 2)).toBe(true);
    await clock.advance(1);
    expect(kernel.has('net0', 2)).toBe(false);
  });

  it('prolongs an existing address, and adds a removed one again', async () => {
    kernel.add([address()], 2);
    await clock.advance(1_000);
    kernel.add([address()], 2);
    await clock.advance(5_000);
    kernel.add([address()], 1);
    expect(kernel.spans().map(({ fromMs, untilMs }) => [fromMs, untilMs])).toEqual([
      [0, 3_000],
      [6_000, 7_000],
    ]);
  });

  it('keeps an address without end for 0xffffffff seconds', () => {
    kernel.add([address()], 0xffffffff);
    expect(kernel.spans()[0]?.untilMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('has no address on an interface that is gone or was replaced', () => {
    const old = address();
    kernel.add([old], 2);
    kernel.addLink('net0');
    expect(kernel.has('net0', 2)).toBe(false);
    expect(kernel.add([old], 2)).toEqual([new Error('ENODEV')]);
    expect(kernel.remove([old])).toBe(true);
  });

  it('may fail, and may have done it nevertheless', () => {
    kernel.failure = () => ({ error: new Error('ENOBUFS'), isDone: true });
    expect(kernel.add([address()], 2)).toEqual([new Error('ENOBUFS')]);
    expect(kernel.has('net0', 2)).toBe(true);
    expect(kernel.remove([address()])).toBe(false);
    expect(kernel.has('net0', 2)).toBe(false);
  });
});

describe('a fake Lease', () => {
  let lease: FakeGroupLease;
  let fate: RequestFate;
  const RECORD = { holder: 'a', leaseDurationMs: 1_000, transitions: 0 };

  beforeEach(() => {
    lease = new FakeGroupLease(clock);
    fate = { thereMs: 10, backMs: 10 };
  });

  const port = (seen: (SeenLease | undefined)[] = []) => {
    const way = lease.reachedBy({ process, timeoutMs: 500, fate: () => fate });
    way.watch((one) => seen.push(one));
    return way.store({ annotations: (isNew) => ({ isNew: String(isNew) }), onAnnotations: () => undefined });
  };

  it('is written at a version, and refuses another', async () => {
    const store = port();
    const first = store.write(RECORD, undefined);
    await clock.advance(20);
    expect(await first).toEqual({ record: RECORD, version: '1' });
    const second = store.write(RECORD, undefined);
    await clock.advance(20);
    expect(await second).toBeUndefined();
    expect(lease.stored?.annotations).toEqual({ isNew: 'true' });
  });

  it('is written although the answer is lost', async () => {
    fate = { thereMs: 10, backMs: 10, lost: 'answer' };
    const outcome = port()
      .write(RECORD, undefined)
      .catch((error: Error) => error.message);
    await clock.advance(500);
    expect([await outcome, lease.stored?.stored.version]).toEqual(['the request timed out', '1']);
  });

  it('is not written when the request is lost', async () => {
    fate = { thereMs: 10, backMs: 10, lost: 'request' };
    const outcome = port()
      .write(RECORD, undefined)
      .catch((error: Error) => error.message);
    await clock.advance(500);
    expect([await outcome, lease.stored]).toEqual(['the request timed out', undefined]);
  });

  it('may be written after the request has timed out', async () => {
    fate = { thereMs: 800, backMs: 0 };
    const outcome = port()
      .write(RECORD, undefined)
      .catch((error: Error) => error.message);
    await clock.advance(500);
    expect([await outcome, lease.stored]).toEqual(['the request timed out', undefined]);
    await clock.advance(300);
    expect(lease.stored?.stored.version).toBe('1');
  });

  it('reports each change to a watch in order, and its deletion', async () => {
    const seen: (SeenLease | undefined)[] = [];
    port(seen);
    for (const text of ['one', 'two']) lease.annotate({ text });
    await clock.advance(10);
    await settle();
    expect(seen.map((one) => one?.annotations['text'])).toEqual(['one', 'two']);
    lease.delete();
    await clock.advance(20);
    expect(seen.at(-1)).toBeUndefined();
    expect(seen).toHaveLength(3);
  });

  it('never reuses a version after it was deleted', async () => {
    lease.annotate({ text: 'one' });
    lease.delete();
    expect(lease.stored).toBeUndefined();
    lease.annotate({ text: 'two' }, 'no-agent');
    expect(lease.stored?.stored).toMatchObject({ version: '2', record: { holder: 'no-agent' } });
  });
});
