import { beforeEach, expect, it, vi } from 'vitest';
import type { Link } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { IsolatedInterfaces } from './isolated-interfaces.js';

let nowMs: number;
let index: number;
let observer: RecordingObserver;
const isolate = vi.fn<(link: Link) => readonly string[]>();
const prepare = vi.fn<() => readonly string[]>();
let interfaces: IsolatedInterfaces;

beforeEach(() => {
  nowMs = 0;
  index = 3;
  observer = new RecordingObserver();
  prepare.mockReset().mockReturnValue([]);
  isolate.mockReset().mockReturnValue(['forwarding']);
  interfaces = new IsolatedInterfaces({
    names: () => ['net1'],
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

it('an interface is isolated before anything is served on it, and looked at every second', () => {
  expect(interfaces.problemOf('net1')).toContain('is being isolated');
  for (const ms of [0, 250, 500, 750, 1_000, 1_250]) checkAt(ms);
  expect(interfaces.problemOf('net1')).toBeUndefined();
  expect(isolate).toHaveBeenCalledTimes(2);
  expect(isolate).toHaveBeenCalledWith({ interfaceName: 'net1', interfaceIndex: 3 });
});

it('one that cannot be isolated is not to be served, until it can', () => {
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

it('without what all have in common none is isolated', () => {
  prepare.mockImplementation(() => {
    throw new Error('cannot add a routing rule: EPERM; grant CAP_NET_ADMIN');
  });
  checkAt(0);
  expect(interfaces.problemOf('net1')).toContain('EPERM; grant CAP_NET_ADMIN');
  expect(isolate).not.toHaveBeenCalled();
});

it('what was corrected is reported', () => {
  checkAt(0);
  expect(observer.events).toEqual([]);
  checkAt(1_000);
  expect(observer.events).toEqual([{ kind: 'isolation-restored', interfaceName: 'net1', corrected: ['forwarding'] }]);
});

it('another interface of the same name is isolated at once; one that is gone has no problem', () => {
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
