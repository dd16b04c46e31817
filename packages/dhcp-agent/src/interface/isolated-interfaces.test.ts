import { beforeEach, expect, it, vi } from 'vitest';
import type { InterfaceIdentity } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { IsolatedInterfaces } from './isolated-interfaces.js';

let nowMs: number;
let index: number;
let observer: RecordingObserver;
const isolate = vi.fn<(link: InterfaceIdentity) => readonly string[]>();
const prepare = vi.fn<() => readonly string[]>();
let interfaces: IsolatedInterfaces;
let names: string[];
let namesAsked: number;

beforeEach(() => {
  nowMs = 0;
  index = 3;
  names = ['net1'];
  namesAsked = 0;
  observer = new RecordingObserver();
  prepare.mockReset().mockReturnValue([]);
  isolate.mockReset().mockReturnValue(['forwarding']);
  interfaces = new IsolatedInterfaces({
    names: () => {
      namesAsked++;
      return names;
    },
    observer,
    nowMs: () => nowMs,
    indexOf: () => index,
    prepare,
    isolate,
  });
});

function checkAt(ms: number): void {
  nowMs = ms;
  interfaces.check();
}

it('an interface is isolated before anything is served on it, and checked every second', () => {
  expect(interfaces.problemOf('net1')).toContain('is being isolated');
  for (const ms of [0, 250, 500, 750, 1_000, 1_250]) checkAt(ms);
  expect(interfaces.problemOf('net1')).toBeUndefined();
  expect(isolate).toHaveBeenCalledTimes(2);
  expect(isolate).toHaveBeenCalledWith({ interfaceName: 'net1', interfaceIndex: 3 });
});

it('an interface that cannot be isolated is not served until it can', () => {
  isolate.mockImplementation(() => {
    throw new Error('EPERM');
  });
  for (const ms of [0, 1_000, 2_000]) checkAt(ms);
  expect(interfaces.problemOf('net1')).toBe('interface net1 cannot be isolated from other networks: EPERM');
  expect(observer.events, 'once, not every second').toEqual([
    { kind: 'isolation-failed', interfaceName: 'net1', message: interfaces.problemOf('net1') },
  ]);
  isolate.mockReset().mockReturnValue([]);
  checkAt(3_000);
  expect(interfaces.problemOf('net1')).toBeUndefined();
});

it('no interface is isolated if the common settings fail', () => {
  prepare.mockImplementation(() => {
    throw new Error('cannot add a routing rule: EPERM; grant CAP_NET_ADMIN');
  });
  checkAt(0);
  expect(interfaces.problemOf('net1')).toContain('EPERM; grant CAP_NET_ADMIN');
  expect(isolate).not.toHaveBeenCalled();
});

it('corrections are reported', () => {
  checkAt(0);
  expect(observer.events).toEqual([]);
  checkAt(1_000);
  expect(observer.events).toEqual([{ kind: 'isolation-restored', interfaceName: 'net1', corrected: ['forwarding'] }]);
});

it('another interface of the same name is isolated at once; a missing one has no problem', () => {
  checkAt(0);
  index = 9;
  expect(interfaces.problemOf('net1')).toContain('is being isolated');
  checkAt(10);
  expect(interfaces.problemOf('net1')).toBeUndefined();
  expect(isolate).toHaveBeenCalledTimes(2);
  index = 0;
  checkAt(20);
  expect(interfaces.problemOf('net1')).toBeUndefined();
});

it('the common settings are made once before a round, but not if there is no interface to check', () => {
  names = ['net1', 'net2'];
  for (const ms of [0, 250, 500, 750, 1_000]) checkAt(ms);
  expect([prepare.mock.calls.length, isolate.mock.calls.length]).toEqual([2, 4]);
  names = [];
  checkAt(2_000);
  expect(prepare).toHaveBeenCalledTimes(2);
});

it('interfaces are listed once a second, and a new one is isolated by then', () => {
  for (const ms of [0, 500, 999]) checkAt(ms);
  expect(namesAsked).toBe(1);
  names = ['net1', 'net2'];
  checkAt(1_000);
  expect(namesAsked).toBe(2);
  expect(isolate).toHaveBeenLastCalledWith({ interfaceName: 'net2', interfaceIndex: 3 });
});

it('an interface that is not there is not isolated', () => {
  index = 0;
  for (const ms of [0, 1_000, 2_000]) checkAt(ms);
  expect([prepare.mock.calls.length, isolate.mock.calls.length, observer.events]).toEqual([0, 0, []]);
});

it('an interface that was gone is new when it is back, whatever its index', () => {
  checkAt(0);
  index = 0;
  checkAt(100);
  index = 3;
  expect(interfaces.problemOf('net1')).toBe('the interface is new, and is being isolated');
  checkAt(200);
  expect(interfaces.problemOf('net1')).toBeUndefined();
  expect([isolate.mock.calls.length, observer.events]).toEqual([2, []]);
});

it('an interface that can be isolated again is reported as isolated, without its corrections', () => {
  isolate.mockImplementation(() => {
    throw new Error('EPERM');
  });
  checkAt(0);
  isolate.mockReset().mockReturnValue(['forwarding']);
  checkAt(1_000);
  expect(observer.events).toEqual([
    { kind: 'isolation-failed', interfaceName: 'net1', message: 'interface net1 cannot be isolated from other networks: EPERM' },
    { kind: 'interface-isolated', interfaceName: 'net1' },
  ]);
});

it('an interface that fails in another way is reported again', () => {
  for (const [ms, message] of [
    [0, 'EPERM'],
    [1_000, 'EPERM'],
    [2_000, 'ENOBUFS'],
  ] as const) {
    isolate.mockImplementation(() => {
      throw new Error(message);
    });
    checkAt(ms);
  }
  expect(observer.of('isolation-failed').map(({ message }) => message.split(': ').at(-1))).toEqual(['EPERM', 'ENOBUFS']);
});

it('corrections of common settings are reported with each interface', () => {
  names = ['net1', 'net2'];
  isolate.mockReturnValue([]);
  checkAt(0);
  prepare.mockReturnValue(['rule']);
  checkAt(1_000);
  expect(observer.events).toEqual([
    { kind: 'isolation-restored', interfaceName: 'net1', corrected: ['rule'] },
    { kind: 'isolation-restored', interfaceName: 'net2', corrected: ['rule'] },
  ]);
  prepare.mockReturnValue([]);
  checkAt(2_000);
  expect(observer.events).toHaveLength(2);
});
