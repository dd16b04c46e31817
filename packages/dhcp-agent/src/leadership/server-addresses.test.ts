import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerAddress } from '../ports.js';
import { FakeKernel } from '../testing/fake-kernel.js';
import { FakeProcess } from '../testing/fake-process.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { type Leadership, STANDBY } from './leadership.js';
import { electionTimes } from './leadership-times.js';
import { ServerAddresses } from './server-addresses.js';

const ADDRESS = 0xc0a83002;
const TIMES = electionTimes(2.75);
const RENEW_MS = TIMES.renewDeadlineMs;

let clock: FakeClock;
let process: FakeProcess;
let kernel: FakeKernel;
let observer: RecordingObserver;
let leadership: Leadership;
let unwanted: Set<string>;
let added: string[];
let changes: number;
let addresses: ServerAddresses;

beforeEach(() => {
  clock = new FakeClock();
  process = new FakeProcess(clock);
  kernel = new FakeKernel({ owner: 'a', process });
  observer = new RecordingObserver();
  leadership = STANDBY;
  unwanted = new Set();
  added = [];
  changes = 0;
  for (const name of ['net0', 'net1']) kernel.addLink(name);
  addresses = new ServerAddresses({
    clock: process,
    addresses: kernel,
    observer,
    times: TIMES,
    leadership: () => leadership,
    wanted,
    onAdded: (name) => added.push(name),
    onChange: () => changes++,
  });
});

function wanted(): ServerAddress[] {
  return ['net0', 'net1'].flatMap((interfaceName, index) => {
    const interfaceIndex = kernel.indexOf(interfaceName);
    if (interfaceIndex === 0 || unwanted.has(interfaceName)) return [];
    return [{ interfaceName, interfaceIndex, address: ADDRESS + index, prefixLength: 24 }];
  });
}

/** The Lease is renewed now. */
function renew(untilMs = process.timeMs + RENEW_MS): void {
  leadership = { kind: 'leading', untilMs };
  addresses.renew();
}

function until(name = 'net0'): number {
  return kernel.spans().findLast(({ interfaceName }) => interfaceName === name)?.untilMs ?? Number.NaN;
}

describe('the server addresses of a leader', () => {
  it('are added, announced and last for whole seconds that end before another replica can be leader', () => {
    renew();
    expect([addresses.has('net0'), addresses.has('net1')]).toEqual([true, true]);
    expect(kernel.announced).toEqual(['net0', 'net1']);
    expect(added).toEqual(['net0', 'net1']);
    expect(until()).toBe(2_001);
    expect(until() + 250).toBeLessThan(TIMES.leaseDurationMs);
  });

  it('are prolonged at every renewal, and announced once', async () => {
    renew();
    await clock.advance(500);
    renew();
    expect(until()).toBe(2_501);
    expect(kernel.announced).toEqual(['net0', 'net1']);
    expect(added).toHaveLength(2);
    expect(kernel.spans()).toHaveLength(2);
  });

  it('are not prolonged between renewals', async () => {
    renew();
    await clock.advance(500);
    addresses.check();
    expect(until()).toBe(2_001);
  });

  it('are not added to the interfaces of a standby', () => {
    addresses.check();
    addresses.renew();
    expect(kernel.spans()).toEqual([]);
    expect(addresses.mayHave('net0')).toBe(false);
  });

  it('are not added by a leader whose time is over', async () => {
    leadership = { kind: 'leading', untilMs: 2_000 };
    await clock.advance(2_000);
    addresses.renew();
    addresses.check();
    expect(kernel.spans()).toEqual([]);
  });

  it('go by themselves where the process is frozen', async () => {
    renew();
    process.freeze(60_000);
    await clock.advance(2_000);
    expect(until()).toBe(2_001);
  });

  it('one that is not wanted any more is removed at the next check, and the change is reported', () => {
    renew();
    changes = 0;
    unwanted.add('net0');
    addresses.check();
    expect([addresses.has('net0'), addresses.mayHave('net0'), addresses.has('net1')]).toEqual([false, false, true]);
    expect(until()).toBeLessThan(100);
    expect(changes).toBe(1);
  });

  it('one that is wanted again is added at the next check, for what is left', async () => {
    unwanted.add('net0');
    renew();
    await clock.advance(600);
    unwanted.clear();
    addresses.check();
    expect(addresses.has('net0')).toBe(true);
    expect(until()).toBe(1_601);
    expect(kernel.announced).toEqual(['net1', 'net0']);
  });

  it('another interface of the same name gets the address, and it is announced there', () => {
    renew();
    kernel.addLink('net0');
    expect(addresses.has('net0')).toBe(true);
    addresses.check();
    expect(kernel.announced).toEqual(['net0', 'net1', 'net0']);
    expect(kernel.has('net0', ADDRESS)).toBe(true);
  });

  it('removeAll removes them all, and nothing is left to report', () => {
    renew();
    expect(addresses.removeAll()).toBe(true);
    expect([kernel.has('net0', ADDRESS), kernel.has('net1', ADDRESS + 1)]).toEqual([false, false]);
    expect([addresses.has('net0'), addresses.mayHave('net1'), addresses.problems()]).toEqual([false, false, []]);
  });

  it('removeAll is false where the kernel refused: the Lease must run out', () => {
    renew();
    kernel.failure = (call) => (call === 'remove' ? { error: new Error('ENOBUFS'), isDone: false } : undefined);
    expect(addresses.removeAll()).toBe(false);
    expect(kernel.has('net0', ADDRESS)).toBe(true);
  });
});

describe('a process that is frozen between computing a lifetime and the kernel getting it', () => {
  it.each([
    { frozenMs: 2_900, what: 'the leadership is over' },
    { frozenMs: 100_000, what: 'the leadership is long over' },
    { frozenMs: 1_990, what: 'no whole second is left' },
  ])('for $frozenMs ms removes the addresses when it wakes: $what', ({ frozenMs }) => {
    const calls = [frozenMs];
    kernel.callMs = () => calls.shift() ?? 1;
    renew();
    expect([kernel.has('net0', ADDRESS), kernel.has('net1', ADDRESS + 1)]).toEqual([false, false]);
    expect([addresses.has('net0'), addresses.mayHave('net0')]).toEqual([false, false]);
    expect(observer.events).toEqual([{ kind: 'addresses-retracted', interfaceNames: ['net0', 'net1'] }]);
    expect(kernel.announced).toEqual([]);
    expect(added).toEqual([]);
  });

  it('for a time that leaves a second adds them for that', () => {
    const calls = [1_200];
    kernel.callMs = () => calls.shift() ?? 1;
    renew();
    expect(addresses.has('net0')).toBe(true);
    expect(until()).toBeLessThanOrEqual(2_400);
    expect(observer.events).toEqual([]);
  });

  it('twice gives up, and adds them at the next renewal', () => {
    const calls = [1_000, 500];
    kernel.callMs = () => calls.shift() ?? 1;
    renew();
    expect(kernel.has('net0', ADDRESS)).toBe(false);
    renew();
    expect(addresses.has('net0')).toBe(true);
    expect(kernel.announced).toEqual(['net0', 'net1']);
  });

  it('at a renewal removes what was there before', () => {
    renew();
    const calls = [4_000];
    kernel.callMs = () => calls.shift() ?? 1;
    renew(3_000);
    expect(kernel.has('net0', ADDRESS)).toBe(false);
    expect(addresses.has('net0')).toBe(false);
  });

  it.each([
    { lateMs: 90, isKept: true },
    { lateMs: 500, isKept: true },
  ])('$lateMs ms late: the address ends before another replica can be leader', ({ lateMs, isKept }) => {
    const calls = [lateMs];
    kernel.callMs = () => calls.shift() ?? 1;
    renew();
    expect(addresses.has('net0')).toBe(isKept);
    expect(until() + 250).toBeLessThan(TIMES.leaseDurationMs);
  });

  it('addresses without end are kept however late', () => {
    kernel.callMs = () => 500;
    renew(Number.POSITIVE_INFINITY);
    expect(until()).toBe(Number.POSITIVE_INFINITY);
    expect(addresses.has('net0')).toBe(true);
  });
});

describe('a kernel that fails', () => {
  const fail = (call: 'add' | 'remove', isDone: boolean) => {
    kernel.failure = (one) => (one === call ? { error: new Error('EPERM'), isDone } : undefined);
  };

  it('to add: the problem is reported once, with the interface', () => {
    fail('add', false);
    renew();
    addresses.check();
    renew();
    expect(addresses.problemOf('net0')).toBe('the server address cannot be kept on interface net0: EPERM');
    expect(addresses.problems()).toHaveLength(2);
    expect(observer.of('address-failed').map(({ interfaceName }) => interfaceName)).toEqual(['net0', 'net1']);
    expect([addresses.has('net0'), addresses.mayHave('net0')]).toEqual([false, true]);
    expect(kernel.announced).toEqual([]);
  });

  it('to add, for a while: the address is added as soon as it works, and the problem is over', () => {
    fail('add', false);
    renew();
    kernel.failure = () => undefined;
    addresses.check();
    expect([addresses.has('net0'), addresses.problems()]).toEqual([true, []]);
    expect(kernel.announced).toEqual(['net0', 'net1']);
  });

  it('on one interface: the other one has its address', () => {
    kernel.failure = () => undefined;
    kernel.removeLink('net0');
    const index = kernel.addLink('net0');
    kernel.removeLink('net0');
    unwanted.add('net0');
    renew();
    expect(index).toBeGreaterThan(0);
    expect([addresses.has('net0'), addresses.has('net1')]).toEqual([false, true]);
  });

  it('to prolong: the address counts as uncertain', () => {
    renew();
    fail('add', false);
    renew();
    expect([addresses.has('net0'), addresses.mayHave('net0')]).toEqual([false, true]);
  });

  it('to remove: the address may be there, and removing is tried at every check', () => {
    renew();
    fail('remove', false);
    unwanted.add('net0');
    addresses.check();
    expect([addresses.has('net0'), addresses.mayHave('net0')]).toEqual([false, true]);
    kernel.failure = () => undefined;
    addresses.check();
    expect(addresses.mayHave('net0')).toBe(false);
    expect(kernel.has('net0', ADDRESS)).toBe(false);
  });

  it('to remove what is wanted again: it is added', () => {
    renew();
    fail('remove', false);
    unwanted.add('net0');
    addresses.check();
    unwanted.clear();
    kernel.failure = () => undefined;
    addresses.check();
    expect(addresses.has('net0')).toBe(true);
  });

  it('to announce: the leader answers all the same', () => {
    kernel.announcementFails = true;
    renew();
    expect(observer.of('announcement-failed')).toMatchObject([
      { interfaceName: 'net0', error: new Error('ENETDOWN') },
      { interfaceName: 'net1' },
    ]);
    expect(added).toEqual(['net0', 'net1']);
    expect(addresses.has('net0')).toBe(true);
  });
});
