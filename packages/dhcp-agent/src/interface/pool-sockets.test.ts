import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import { FakeClock, settle } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FollowedPool } from '../pool/followed-pools.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { PoolSockets } from './pool-sockets.js';

const CONFIGS = [0, 1].map(
  (number) => ({ interfaceName: `net${number}`, ipPoolRef: `default/net-${number}` }) as AgentNetworkConfig,
);
const ACTIVE = { kind: 'active' } as FollowedPool;

let clock: FakeClock;
let pools: Map<string, FollowedPool>;
let problems: Map<string, string>;
let open: string[];
let log: string[];
let isolationChecks: number;
let injected: string[];
let failSending: () => void;
let sockets: PoolSockets;

beforeEach(() => {
  clock = new FakeClock();
  pools = new Map(CONFIGS.map(({ ipPoolRef }) => [ipPoolRef, ACTIVE]));
  problems = new Map();
  [open, log, injected] = [[], [], []];
  isolationChecks = 0;
  sockets = new PoolSockets({
    configs: CONFIGS,
    pools: { get: (key) => pools.get(key) ?? { kind: 'paused' } },
    isolation: { check: () => isolationChecks++, problemOf: (name) => problems.get(name) },
    clock,
    observer: new RecordingObserver(),
    sockets: {
      indexOf: () => 7,
      open: async (name, _, events) => {
        open.push(name);
        failSending = () => events.onSendFailure({ error: 'ENOBUFS', count: 2 });
        return {
          interfaceIndex: 7,
          sendsFrames: true,
          inject: () => injected.push(name),
          send: () => undefined,
          close: () => open.splice(open.indexOf(name), 1),
        };
      },
    },
    handlerOf: () => () => undefined,
    ipv6Of: () => ({
      sockets: { open: () => Promise.reject(new Error('not wanted')) },
      isWanted: () => false,
      answerDhcpv6: () => undefined,
      onRouterSolicitation: () => undefined,
      onRouterAdvertisement: () => undefined,
      onNeighborAdvertisement: () => undefined,
      look: () => undefined,
      onSendFailure: () => undefined,
    }),
    onBurst: () => undefined,
    onSendFailure: (name, { error, count }) => log.push(`${name} ${error} ${count}`),
    onStateChange: () => log.push('change'),
  });
});

describe('the sockets of pools', () => {
  it('are opened for active pools on isolated interfaces, at the start', async () => {
    sockets.start();
    await settle();
    expect(open).toEqual(['net0', 'net1']);
    expect(sockets.stateOf('net0')).toEqual({ kind: 'serving' });
    expect(log).toEqual(['change', 'change']);
  });

  it('are opening before that', () => {
    expect(sockets.stateOf('net0')).toEqual({ kind: 'opening' });
  });

  it('stay open however often they are checked', async () => {
    sockets.start();
    await clock.advance(10_000);
    expect(open).toEqual(['net0', 'net1']);
    expect(isolationChecks).toBe(41);
  });

  it('are closed when the pool is no longer active, and opened when it is again', async () => {
    sockets.start();
    await settle();
    pools.set('default/net-0', { kind: 'paused' });
    await clock.advance(250);
    expect(open).toEqual(['net1']);
    pools.set('default/net-0', ACTIVE);
    await clock.advance(250);
    expect(open).toEqual(['net1', 'net0']);
  });

  it('are closed, with that state, when the interface is no longer isolated', async () => {
    sockets.start();
    await settle();
    problems.set('net1', 'packets can pass');
    await clock.advance(250);
    expect(open).toEqual(['net0']);
    expect(sockets.stateOf('net1')).toEqual({ kind: 'not-isolated', message: 'packets can pass' });
    expect(sockets.stateOf('net0').kind).toBe('serving');
  });

  it('get packets that were received earlier, each on its interface', async () => {
    sockets.start();
    await settle();
    sockets.inject('net1', Uint8Array.of(1));
    sockets.inject('net9', Uint8Array.of(1));
    expect(injected).toEqual(['net1']);
  });

  it('report packets that could not be sent, with the interface', async () => {
    sockets.start();
    await settle();
    failSending();
    expect(log).toContain('net1 ENOBUFS 2');
  });

  it('are all closed at the end, and not opened any more', async () => {
    sockets.start();
    await settle();
    sockets.stop();
    await clock.advance(10_000);
    expect([open, clock.pending]).toEqual([[], 0]);
  });

  it('are known to be none after the end', async () => {
    sockets.start();
    await settle();
    sockets.stop();
    expect(sockets.stateOf('net0')).toEqual({ kind: 'opening' });
    sockets.inject('net0', Uint8Array.of(1));
    expect(injected).toEqual([]);
  });
});
