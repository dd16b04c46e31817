import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FollowedPool } from '../pool/followed-pools.js';
import type { AddressKernel } from '../ports.js';
import { LeaderTerm } from './leader-term.js';

const ADDRESS: Ipv4Address = 0xc0a83002;
const SAFE_MS = 2_400;
const CONFIG = { interfaceName: 'net1', ipPoolRef: 'default/net-48' } as AgentNetworkConfig;
const POOL = { kind: 'active', pool: { serverAddress: ADDRESS, cidr: { prefixLength: 24 } } } as FollowedPool;

/** A kernel, and how long the process is stopped just before the kernel hears of addresses. */
class FakeKernel implements AddressKernel {
  timeMs = 0;
  leadsUntilMs = Number.POSITIVE_INFINITY;
  isIsolated = true;
  readonly stopsMs: number[] = [];
  /** Until when each interface has an address. */
  readonly until = new Map<string, number>();
  readonly announced: string[] = [];

  readonly indexOf = () => 7;
  readonly nowMs = () => this.timeMs;
  readonly announce = (name: string) => void this.announced.push(name);

  readonly give: AddressKernel['give'] = (addresses, seconds) => {
    this.timeMs += this.stopsMs.shift() ?? 1;
    for (const { interfaceName } of addresses) this.until.set(interfaceName, this.timeMs + seconds * 1000);
    return addresses.map(() => undefined);
  };

  readonly take: AddressKernel['take'] = (addresses) => {
    for (const { interfaceName } of addresses) this.until.delete(interfaceName);
    return true;
  };
}

let term: LeaderTerm;
afterEach(() => term.end());

function begin(kernel: FakeKernel): LeaderTerm {
  term = new LeaderTerm({
    configs: [CONFIG],
    pools: { get: () => POOL },
    kernel,
    clock: new FakeClock(),
    isIsolated: () => kernel.isIsolated,
    isSuspended: () => false,
    logger: pino({ level: 'silent' }),
    isLeading: () => kernel.timeMs < kernel.leadsUntilMs,
    onAddressGiven: vi.fn(),
    onStateChange: vi.fn(),
  });
  term.begin(SAFE_MS);
  return term;
}

describe('the server addresses of a leader', () => {
  it('are given, announced, and last as many whole seconds as there are', () => {
    const kernel = new FakeKernel();
    begin(kernel);
    expect(term.hasAddress('net1')).toBe(true);
    expect(kernel.until.get('net1')).toBe(2_001);
    expect(kernel.announced).toEqual(['net1']);
  });

  it.each([
    { stoppedMs: 2_900, leadsUntilMs: 2_000, what: 'the lead is over' },
    { stoppedMs: 100_000, leadsUntilMs: 2_000, what: 'the lead is long over' },
    { stoppedMs: 2_000, leadsUntilMs: 5_000, what: 'no whole second is left of the time' },
  ])(
    'a process stopped for $stoppedMs ms between check and call takes them away when it wakes: $what',
    ({ stoppedMs, leadsUntilMs }) => {
      const kernel = new FakeKernel();
      kernel.leadsUntilMs = leadsUntilMs;
      kernel.stopsMs.push(stoppedMs);
      begin(kernel);
      expect(kernel.until.has('net1')).toBe(false);
      expect(term.hasAddress('net1')).toBe(false);
      expect(kernel.announced).toEqual([]);
    },
  );

  it('one that still leads gives them for the time that is left', () => {
    const kernel = new FakeKernel();
    kernel.stopsMs.push(1_200);
    begin(kernel);
    expect(term.hasAddress('net1')).toBe(true);
    expect(kernel.until.get('net1')).toBeLessThanOrEqual(SAFE_MS);
  });

  it('and where that takes too long again they are taken away, and given at the next renewal', () => {
    const kernel = new FakeKernel();
    kernel.stopsMs.push(1_000, 500);
    begin(kernel);
    expect(kernel.until.has('net1')).toBe(false);
    term.renew(SAFE_MS);
    expect(term.hasAddress('net1')).toBe(true);
    expect(kernel.announced).toEqual(['net1']);
  });

  it('a renewal that comes too late takes them away, whatever the kernel heard before', () => {
    const kernel = new FakeKernel();
    begin(kernel);
    kernel.leadsUntilMs = 3_000;
    kernel.stopsMs.push(4_000);
    term.renew(SAFE_MS);
    expect(kernel.until.has('net1')).toBe(false);
    expect(term.hasAddress('net1')).toBe(false);
  });

  it('an interface that is not isolated gets none, and loses the one it has', () => {
    const kernel = new FakeKernel();
    kernel.isIsolated = false;
    begin(kernel);
    expect(kernel.until.has('net1')).toBe(false);
    kernel.isIsolated = true;
    term.check();
    expect(term.hasAddress('net1')).toBe(true);
    kernel.isIsolated = false;
    term.check();
    expect(kernel.until.has('net1')).toBe(false);
  });
});
