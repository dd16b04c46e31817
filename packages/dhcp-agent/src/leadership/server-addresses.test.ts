import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerAddress } from '../ports.js';
import { FakeKernel } from '../testing/fake-kernel.js';
import { FakeProcess } from '../testing/fake-process.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { type Leadership, STANDBY } from './leadership.js';
import { addressEndMs, electionTimes, MOST_CALL_MS } from './leadership-times.js';
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
let times: ElectionTimes;

beforeEach(() => {
  clock = new FakeClock();
  process = new FakeProcess(clock);
  kernel = new FakeKernel({ owner: 'a', process });
  observer = new RecordingObserver();
  leadership = STANDBY;
  unwanted = new Set();
  added = [];
  changes = 0;
  times = TIMES;
  for (const name of ['net0', 'net1']) kernel.addLink(name);
  addresses = createAddresses();
});

function createAddresses(): ServerAddresses {
  return new ServerAddresses({
    clock: process,
    addresses: kernel,
    observer,
    times,
    leadership: () => leadership,
    wanted,
    onAdded: (name) => added.push(name),
    onChange: () => changes++,
  });
}

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

  it('are not added by a leader whose time has run out', async () => {
    leadership = { kind: 'leading', untilMs: 2_000 };
    await clock.advance(2_000);
    addresses.renew();
    addresses.check();
    expect(kernel.spans()).toEqual([]);
  });

  it('expire by themselves if the process is frozen', async () => {
    renew();
    process.freeze(60_000);
    await clock.advance(2_000);
    expect(until()).toBe(2_001);
  });

  it('an unwanted address is removed at the next check, and the change is reported', () => {
    renew();
    changes = 0;
    unwanted.add('net0');
    addresses.check();
    expect([addresses.has('net0'), addresses.mayHave('net0'), addresses.has('net1')]).toEqual([false, false, true]);
    expect(until()).toBeLessThan(100);
    expect(changes).toBe(1);
  });

  it('an address that is wanted again is added at the next check, for the remaining time', async () => {
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

  it('removeAll returns false if the kernel refused: the Lease must expire', () => {
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

  it('long enough to leave a second adds them for that second', () => {
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

  it('on one interface: the other one gets its address', () => {
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

  it('to remove an address that is wanted again: it is added', () => {
    renew();
    fail('remove', false);
    unwanted.add('net0');
    addresses.check();
    unwanted.clear();
    kernel.failure = () => undefined;
    addresses.check();
    expect(addresses.has('net0')).toBe(true);
  });

  it('to announce: the leader answers nevertheless', () => {
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

/** If a leadership ends long before another one can begin, the addresses could outlive it by seconds. */
const WIDE: ElectionTimes = { leaseDurationMs: 20_000, renewDeadlineMs: 5_000, retryPeriodMs: 1_000 };

describe('a leadership that ends', () => {
  it.each<[string, Leadership]>([
    ['is over since this moment', { kind: 'leading', untilMs: 7_000 }],
    ['was over before', { kind: 'leading', untilMs: 6_000 }],
    ['was lost', STANDBY],
    ['was given up', { kind: 'resigned', untilMs: 60_000 }],
    ['ended with the process', { kind: 'stopping' }],
  ])('%s: no address is added, even if its lifetime would end in time', async (_, ended) => {
    times = WIDE;
    addresses = createAddresses();
    await clock.advance(7_000);
    leadership = ended;
    addresses.renew();
    addresses.check();
    expect([kernel.spans(), added, changes]).toEqual([[], [], 0]);
  });

  it.each<[string, () => Leadership]>([
    ['is over', () => ({ kind: 'leading', untilMs: process.timeMs })],
    ['is lost', () => STANDBY],
    ['is given up', () => ({ kind: 'resigned', untilMs: 60_000 })],
    ['ends with the process', () => ({ kind: 'stopping' })],
  ])('%s while the kernel adds the addresses: they are removed again', (_, ended) => {
    times = WIDE;
    addresses = createAddresses();
    kernel.callMs = () => {
      leadership = ended();
      return 0;
    };
    renew();
    expect([kernel.has('net0', ADDRESS), kernel.has('net1', ADDRESS + 1)]).toEqual([false, false]);
    expect([addresses.has('net0'), addresses.mayHave('net0')]).toEqual([false, false]);
    expect(observer.events).toEqual([{ kind: 'addresses-retracted', interfaceNames: ['net0', 'net1'] }]);
    expect([kernel.announced, added]).toEqual([[], []]);
  });

  it('removes an address that is not wanted any more although its time is over', () => {
    renew();
    unwanted.add('net0');
    leadership = STANDBY;
    addresses.check();
    expect([addresses.mayHave('net0'), addresses.has('net1')]).toEqual([false, true]);
  });
});

describe('the lifetime that the kernel gets', () => {
  // 400 ms from the end of the leadership to the end of its addresses, and 90 ms of those that follow for the call itself.
  it.each([
    { frozenMs: 0, endMs: 2_000, what: 'two seconds at once' },
    { frozenMs: 490, endMs: 2_490, what: 'two seconds as late as they may be' },
    { frozenMs: 491, endMs: 1_491, what: 'too late for two seconds: one is left' },
    { frozenMs: 1_400, endMs: 2_400, what: 'too late for two seconds: exactly one is left' },
  ])('$frozenMs ms late: $what', ({ frozenMs, endMs }) => {
    const calls = [frozenMs];
    kernel.callMs = () => calls.shift() ?? 0;
    renew();
    expect(until()).toBe(endMs);
    expect([addresses.has('net0'), addresses.has('net1'), changes]).toEqual([true, true, 1]);
    expect(endMs + 250).toBeLessThan(TIMES.leaseDurationMs);
  });

  it('is tried only twice, even if much of a long leadership remains', () => {
    const calls = [1_000, 1_000];
    kernel.callMs = () => calls.shift() ?? 0;
    renew(30_000);
    expect(kernel.has('net0', ADDRESS)).toBe(false);
    expect(observer.kinds()).toEqual(['addresses-retracted']);
    addresses.check();
    expect([addresses.has('net0'), until()]).toEqual([true, 30_000]);
  });
});

describe('reports about server addresses', () => {
  const fail = (failing: 'add' | 'remove', name?: string) => {
    kernel.failure = (call, { interfaceName }) =>
      call === failing && interfaceName === (name ?? interfaceName) ? { error: new Error('EPERM'), isDone: false } : undefined;
  };
  const works = () => {
    kernel.failure = () => undefined;
  };

  it.each<[string, () => void, number, number]>([
    ['the first renewal adds them', () => undefined, 1, 0],
    ['a second renewal prolongs them', () => renew(), 0, 0],
    ['a check finds them', () => addresses.check(), 0, 0],
    [
      'one is not wanted any more',
      () => {
        unwanted.add('net0');
        addresses.check();
      },
      1,
      0,
    ],
    [
      'one is not wanted any more at a renewal',
      () => {
        unwanted.add('net0');
        renew();
      },
      1,
      0,
    ],
    [
      'both are not wanted any more',
      () => {
        unwanted.add('net0').add('net1');
        addresses.check();
      },
      2,
      0,
    ],
    [
      'one interface is replaced: its address is removed and added',
      () => {
        kernel.addLink('net0');
        addresses.check();
      },
      2,
      0,
    ],
    [
      'both cannot be prolonged',
      () => {
        fail('add');
        renew();
      },
      2,
      2,
    ],
    [
      'one of both cannot be prolonged',
      () => {
        fail('add', 'net0');
        renew();
      },
      1,
      1,
    ],
    [
      'both cannot be prolonged twice: known by then',
      () => {
        fail('add');
        renew();
        changes = 0;
        renew();
      },
      0,
      2,
    ],
    [
      'an address that could not be prolonged works again: one problem less, one address more',
      () => {
        fail('add', 'net0');
        renew();
        changes = 0;
        works();
        renew();
      },
      2,
      0,
    ],
    [
      'the process was frozen for long while they were prolonged',
      () => {
        const calls = [9_000];
        kernel.callMs = () => calls.shift() ?? 0;
        renew();
      },
      1,
      0,
    ],
  ])('%s: so many changes and problems', (what, happens, expectedChanges, problems) => {
    renew();
    if (what !== 'the first renewal adds them') changes = 0;
    happens();
    expect([changes, addresses.problems().length]).toEqual([expectedChanges, problems]);
  });

  it('a problem of an interface that is not wanted any more is over', () => {
    fail('add');
    renew();
    expect(addresses.problems()).toHaveLength(2);
    unwanted.add('net0');
    addresses.check();
    expect([addresses.problemOf('net0'), addresses.problems()]).toEqual([
      undefined,
      ['the server address cannot be kept on interface net1: EPERM'],
    ]);
  });

  it('a problem is over with the leadership', () => {
    fail('add');
    renew();
    addresses.removeAll();
    expect(addresses.problems()).toEqual([]);
  });

  it('another problem of the same interface replaces the first, and is reported', () => {
    fail('add');
    renew();
    kernel.failure = (call) => (call === 'add' ? { error: new Error('ENOBUFS'), isDone: false } : undefined);
    renew();
    expect(addresses.problems()).toEqual([
      'the server address cannot be kept on interface net0: ENOBUFS',
      'the server address cannot be kept on interface net1: ENOBUFS',
    ]);
    expect(observer.of('address-failed')).toHaveLength(4);
  });
});

describe('a renewal', () => {
  it('removes unwanted addresses, and prolongs the others', async () => {
    renew();
    await clock.advance(500);
    unwanted.add('net0');
    renew();
    expect([kernel.has('net0', ADDRESS), addresses.mayHave('net0')]).toEqual([false, false]);
    // A millisecond of the call that removes, and one of the call that prolongs.
    expect(until('net1')).toBe(2_502);
  });

  it('adds missing addresses and prolongs the others, for the same time', async () => {
    unwanted.add('net1');
    renew();
    await clock.advance(500);
    unwanted.clear();
    renew();
    expect([until('net0'), until('net1')]).toEqual([2_501, 2_501]);
    expect([kernel.announced, added]).toEqual([
      ['net0', 'net1'],
      ['net0', 'net1'],
    ]);
  });

  it('adds an address that may be there, and announces it again', async () => {
    renew();
    kernel.failure = (call) => (call === 'add' ? { error: new Error('ENOBUFS'), isDone: true } : undefined);
    renew();
    kernel.failure = () => undefined;
    renew();
    expect([addresses.has('net0'), addresses.has('net1')]).toEqual([true, true]);
    expect(kernel.announced).toEqual(['net0', 'net1', 'net0', 'net1']);
  });

  it('ENODEV, because the interface vanished unnoticed, means that there is no address; the problem ends with the interface', () => {
    renew();
    const indexOf = kernel.indexOf('net0');
    const before = wanted();
    kernel.removeLink('net0');
    const late = new ServerAddresses({
      clock: process,
      addresses: kernel,
      observer,
      times,
      leadership: () => leadership,
      wanted: () => before,
      onAdded: (name) => added.push(name),
      onChange: () => changes++,
    });
    late.renew();
    expect(indexOf).toBeGreaterThan(0);
    expect([late.has('net0'), late.has('net1')]).toEqual([false, true]);
    expect(late.problems()).toEqual(['the server address cannot be kept on interface net0: ENODEV']);
    expect(kernel.has('net0', ADDRESS)).toBe(false);
  });
});

describe('laws of server addresses', () => {
  const step = fc.record({
    what: fc.constantFrom('renew', 'renew', 'renew', 'check', 'check', 'lose', 'replace', 'want', 'do not want'),
    interfaceName: fc.constantFrom('net0', 'net1'),
    waitMs: fc.constantFrom(0, 1, 250, 499, 500, 1_000, 2_001, 9_000),
    callMs: fc.constantFrom(0, 0, 1, 90, 91, 490, 491, 1_400, 1_401, 30_000),
    failing: fc.constantFrom('add', 'remove', 'none', 'none', 'none'),
    isDone: fc.boolean(),
  });

  /** Nothing helps a process that is frozen in its call and whose kernel then fails to undo it, so only one of both happens. */
  function prepare({ callMs, failing, isDone }: { readonly callMs: number; readonly failing: string; readonly isDone: boolean }) {
    kernel.callMs = () => (failing === 'none' ? callMs : Math.min(callMs, 1));
    kernel.failure = (call) => (call === failing ? { error: new Error('ENOBUFS'), isDone } : undefined);
  }

  const happenings: Record<string, (interfaceName: string) => void> = {
    renew: () => renew(),
    check: () => addresses.check(),
    lose: () => {
      leadership = STANDBY;
      addresses.removeAll();
    },
    replace: (name) => {
      kernel.addLink(name);
      addresses.check();
    },
    want: (name) => {
      unwanted.delete(name);
      addresses.check();
    },
    'do not want': (name) => {
      unwanted.add(name);
      addresses.check();
    },
  };

  it('whatever happens, no address stays longer than the leadership allows, and every known address is wanted and exists', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
        clock = new FakeClock();
        process = new FakeProcess(clock);
        kernel = new FakeKernel({ owner: 'a', process });
        leadership = STANDBY;
        unwanted = new Set();
        for (const name of ['net0', 'net1']) kernel.addLink(name);
        addresses = createAddresses();
        let endMs = 0;
        for (const one of steps) {
          await clock.advance(process.timeMs - clock.nowMs() + one.waitMs);
          prepare(one);
          if (one.what === 'renew') endMs = addressEndMs(TIMES, process.timeMs + RENEW_MS);
          happenings[one.what]?.(one.interfaceName);
          for (const span of kernel.spans())
            expect(span.untilMs).toBeLessThanOrEqual(Math.max(process.timeMs, endMs + MOST_CALL_MS));
          for (const { interfaceName, address } of wanted()) {
            if (addresses.has(interfaceName) && process.timeMs < until(interfaceName))
              expect(kernel.has(interfaceName, address)).toBe(true);
          }
          for (const name of unwanted) expect(addresses.has(name)).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });
});
