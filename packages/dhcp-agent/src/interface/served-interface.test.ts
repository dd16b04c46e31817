import { settle } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { DhcpSocketEvents, Ipv6Socket } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { ServedInterface } from './served-interface.js';

let nowMs: number;
let index: number;
let failure: Error | undefined;
let prepareFailure: Error | undefined;
let opened: number[];
let closed: number[];
let injected: Uint8Array[];
let changes: string[];
let socketEvents: DhcpSocketEvents;
let sendsFrames: boolean;
let gate: Promise<void>;
let observer: RecordingObserver;
let served: ServedInterface;

beforeEach(() => {
  nowMs = 0;
  index = 7;
  failure = undefined;
  prepareFailure = undefined;
  [opened, closed, injected, changes] = [[], [], [], []];
  sendsFrames = true;
  gate = Promise.resolve();
  observer = new RecordingObserver();
  served = new ServedInterface('net0', {
    observer,
    nowMs: () => nowMs,
    handler: () => undefined,
    prepare: async () => {
      if (prepareFailure !== undefined) throw prepareFailure;
    },
    sockets: {
      indexOf: () => index,
      open: async (_, __, events) => {
        await gate;
        if (failure !== undefined) throw failure;
        opened.push(index);
        socketEvents = events;
        const interfaceIndex = index;
        return {
          interfaceIndex,
          sendsFrames,
          inject: (packet) => injected.push(packet),
          send: () => undefined,
          close: () => closed.push(interfaceIndex),
        };
      },
    },
    socketEvents: { onSendFailure: () => undefined, onBurst: () => undefined },
    onStateChange: () => changes.push(served.state.kind),
  });
});

describe('an interface that is served', () => {
  it('is opening at first, and serving when its socket is open', async () => {
    expect(served.state).toEqual({ kind: 'opening' });
    await served.check();
    expect([served.state, served.interfaceIndex, changes]).toEqual([{ kind: 'serving' }, 7, ['serving']]);
    expect(observer.events).toEqual([]);
  });

  it('is opened once, however often it is checked', async () => {
    for (let round = 0; round < 20; round++) await served.check();
    expect([opened, closed, changes]).toEqual([[7], [], ['serving']]);
  });

  it('is not opened twice by checks at the same time', async () => {
    let open: () => void = () => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const checks = [served.check(), served.check(), served.check()];
    open();
    await Promise.all(checks);
    expect(opened).toEqual([7]);
  });

  it('is missing while there is no interface of that name: reported once', async () => {
    index = 0;
    await served.check();
    await served.check();
    expect([served.state.kind, opened, changes]).toEqual(['missing', [], ['missing']]);
    expect(observer.events).toEqual([{ kind: 'interface-missing', interfaceName: 'net0' }]);
  });

  it('that vanishes is closed, and opened when it is back', async () => {
    await served.check();
    index = 0;
    await served.check();
    index = 8;
    await served.check();
    expect([opened, closed]).toEqual([[7, 8], [7]]);
    expect(observer.kinds()).toEqual(['interface-missing', 'interface-back']);
    expect(served.state.kind).toBe('serving');
  });

  it('that was replaced by another of its name is closed and opened', async () => {
    await served.check();
    index = 9;
    await served.check();
    expect([opened, closed]).toEqual([[7, 9], [7]]);
    expect(observer.kinds()).toEqual(['interface-back']);
  });

  it('that cannot be opened has failed, and is tried again after a second', async () => {
    failure = new Error('EADDRINUSE');
    await served.check();
    expect(served.state).toEqual({ kind: 'failed', message: 'EADDRINUSE' });
    failure = undefined;
    nowMs = 999;
    await served.check();
    expect(opened).toEqual([]);
    nowMs = 1_000;
    await served.check();
    expect([opened, served.state.kind]).toEqual([[7], 'serving']);
  });

  it('that fails in the same way again is reported once, and in another way again', async () => {
    for (const [ms, message] of [
      [0, 'EPERM'],
      [1_000, 'EPERM'],
      [2_000, 'EADDRINUSE'],
    ] as const) {
      nowMs = ms;
      failure = new Error(message);
      await served.check();
    }
    expect(observer.of('socket-failed').map(({ error }) => error.message)).toEqual(['EPERM', 'EADDRINUSE']);
  });

  it('that cannot be prepared is not opened', async () => {
    prepareFailure = new Error('no address');
    await served.check();
    expect([served.state, opened]).toEqual([{ kind: 'failed', message: 'no address' }, []]);
  });

  it('whose socket fails later is closed, and opened again after a second', async () => {
    await served.check();
    socketEvents.onError(new Error('ENETDOWN'));
    expect([served.state, closed, served.interfaceIndex]).toEqual([{ kind: 'failed', message: 'ENETDOWN' }, [7], undefined]);
    nowMs = 1_000;
    await served.check();
    expect(opened).toEqual([7, 7]);
  });

  it('that is missing after a failure is missing', async () => {
    failure = new Error('EPERM');
    await served.check();
    index = 0;
    await served.check();
    expect(served.state.kind).toBe('missing');
  });

  it('that cannot send frames is reported', async () => {
    sendsFrames = false;
    await served.check();
    expect(observer.events).toEqual([{ kind: 'frames-not-sent', interfaceName: 'net0' }]);
  });

  it('answers a packet that was received before, while it is open', async () => {
    served.inject(Uint8Array.of(1));
    await served.check();
    served.inject(Uint8Array.of(2));
    expect(injected).toEqual([Uint8Array.of(2)]);
  });

  it('that was stopped is closed, and never opened again', async () => {
    await served.check();
    served.stop();
    await served.check();
    expect([opened, closed]).toEqual([[7], [7]]);
  });

  it('that was stopped while it was opened is closed', async () => {
    let open: () => void = () => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const check = served.check();
    await settle();
    served.stop();
    open();
    await check;
    expect([closed, served.interfaceIndex, changes]).toEqual([[7], undefined, []]);
  });

  it('that vanishes is closed at once: nothing is answered from there while it is missing', async () => {
    await served.check();
    index = 0;
    await served.check();
    served.inject(Uint8Array.of(1));
    expect([closed, injected, served.interfaceIndex]).toEqual([[7], [], undefined]);
  });

  it('that failed, vanished and is back is opened at once', async () => {
    failure = new Error('EADDRINUSE');
    await served.check();
    failure = undefined;
    index = 0;
    nowMs = 100;
    await served.check();
    index = 8;
    nowMs = 200;
    await served.check();
    expect([opened, served.state.kind]).toEqual([[8], 'serving']);
    expect(observer.kinds()).toEqual(['socket-failed', 'interface-missing', 'interface-back']);
  });

  it('that is replaced within a second after a failure that is over is opened at once', async () => {
    await served.check();
    socketEvents.onError(new Error('ENETDOWN'));
    nowMs = 1_000;
    await served.check();
    socketEvents.onError(new Error('ENETDOWN'));
    expect(observer.of('socket-failed'), 'it was serving in between').toHaveLength(2);
    nowMs = 2_000;
    await served.check();
    index = 9;
    nowMs = 2_001;
    await served.check();
    expect(opened).toEqual([7, 7, 7, 9]);
  });
});

describe('IPv6 of an interface', () => {
  it('is opened while it is wanted, and its failure and its end are seen, which do not concern IPv4', async () => {
    let isWanted = true;
    let fails = true;
    const seen: (Ipv6Socket | undefined)[] = [];
    const socket: Ipv6Socket = {
      interfaceIndex: 7,
      hardwareAddress: new Uint8Array(6),
      advertise: () => undefined,
      solicitRouters: () => undefined,
      solicitNeighbor: () => undefined,
      close: () => changes.push('closed'),
    };
    const both = new ServedInterface('net0', {
      observer,
      nowMs: () => nowMs,
      handler: () => undefined,
      sockets: {
        indexOf: () => index,
        open: async () => ({ interfaceIndex: index, sendsFrames: true, inject: () => 0, send: () => 0, close: () => 0 }),
      },
      socketEvents: { onSendFailure: () => undefined, onBurst: () => undefined },
      ipv6: {
        sockets: { open: () => (fails ? Promise.reject(new Error('EPERM')) : Promise.resolve(socket)) },
        isWanted: () => isWanted,
        look: (open) => seen.push(open),
        answerDhcpv6: () => undefined,
        onRouterSolicitation: () => undefined,
        onRouterAdvertisement: () => undefined,
        onNeighborAdvertisement: () => undefined,
        onSendFailure: () => undefined,
      },
      onStateChange: () => undefined,
    });
    await both.check();
    expect([both.state.kind, both.ipv6Problem, seen.at(-1)]).toEqual(['serving', 'IPv6 is not served: EPERM', undefined]);
    fails = false;
    nowMs = 1_000;
    await both.check();
    expect([both.ipv6Problem, seen.at(-1)]).toEqual([undefined, socket]);
    isWanted = false;
    await both.check();
    expect([seen.at(-1), changes]).toEqual([undefined, ['closed']]);
    isWanted = true;
    await both.check();
    index = 0;
    await both.check();
    index = 7;
    await both.check();
    expect(
      observer.events.map(({ kind }) => kind),
      'each once',
    ).toEqual(['socket-failed', 'interface-missing', 'interface-back']);
    changes.length = 0;
    both.stop();
    expect([seen.at(-1), changes], 'nothing is sent on a closed socket').toEqual([undefined, ['closed']]);
  });
});
