import { describeAgentReport, formatAgentReport, type PoolReport, parseAgentReport } from '@vmdhcp/ippool-api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENT_REPORT_ANNOTATION, SUSPENDED_POOLS_ANNOTATION, SUSPENDED_POOLS_SEEN_ANNOTATION } from '../labels.js';
import { isReasonAt, REASONS, type Reason } from '../reasons.js';
import { MOST_REPORT_OCTETS } from './agent-report.js';
import { formatSuspendedPools } from './suspended-pools.js';

const ROUTER = { address: 'fe80::1', macAddress: '02:00:00:00:00:05', isDefaultRouter: true, isManaged: false };

const FULL: PoolReport = {
  serving: false,
  reason: 'RogueServer',
  message: 'another one answers',
  version: '17',
  conflicts: [
    { address: '10.0.0.9', macAddress: '02:00:00:00:00:01', usedBy: '02:00:00:00:00:02' },
    { address: '10.0.0.8', macAddress: '02:00:00:00:00:03' },
  ],
  observedUses: [
    { address: '10.0.0.7', usedBy: '02:00:00:00:00:07' },
    { address: '10.0.0.8', usedBy: '02:00:00:00:00:08', assignedTo: '02:00:00:00:00:09' },
  ],
  rogueServers: [{ address: '10.0.0.1', macAddress: '02:00:00:00:00:04' }],
  routers: [ROUTER, { ...ROUTER, address: 'fe80::2', isDefaultRouter: false, isManaged: true }],
  declinedIpv6: [{ address: '2001:db8::11', macAddress: '02:00:00:00:00:07' }],
  silentMinutes: 100_000,
};

describe('the report', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.record({ serving: fc.boolean() })), (pools) => {
        const report = new Map(Object.entries(pools));
        expect(parseAgentReport(formatAgentReport(report))).toEqual(report);
      }),
    );
  });

  it.each([undefined, '', '{', '[]', '{"a":1,"b":{"serving":"yes"}}'])('%j says nothing about a pool', (text) => {
    expect(parseAgentReport(text)).toEqual(new Map());
  });

  it('stores addresses as text, and reads them back completely', () => {
    const report = new Map([['a/p', FULL]]);
    expect(formatAgentReport(report)).toContain('"address":"10.0.0.9"');
    expect(parseAgentReport(formatAgentReport(report))).toEqual(report);
  });

  it('a new version of a pool alone is not urgent', () => {
    const [one, other] = ['17', '18'].map((version) => describeAgentReport(new Map([['a/p', { ...FULL, version }]])));
    expect(one).toBe(other);
    expect(describeAgentReport(new Map([['a/p', { ...FULL, serving: true }]]))).not.toBe(one);
  });

  it.each([
    ['a reason that another version reports', { reason: 'Fancy', message: 'look up' }, { message: 'Fancy: look up' }],
    ['a reason of conditions that no agent reports', { reason: 'Pending' }, { message: 'Pending' }],
    ['a message without a reason', { message: 'look up' }, { message: 'look up' }],
    ['a reason without a message', { reason: 'Draining' }, { reason: 'Draining' }],
  ])('reads %s', (_, written, read) => {
    const text = JSON.stringify({ 'a/p': { serving: false, ...written } });
    expect(parseAgentReport(text).get('a/p')).toEqual({ serving: false, ...read });
  });

  it.each([0, -2, '4', null])('ignores silentMinutes %j', (silentMinutes) => {
    const text = JSON.stringify({ 'a/p': { serving: true, silentMinutes } });
    expect(parseAgentReport(text).get('a/p')).toEqual({ serving: true });
  });

  it('a network that is silent for longer is urgent', () => {
    const [one, other] = [2, 4].map((silentMinutes) => describeAgentReport(new Map([['a/p', { serving: true, silentMinutes }]])));
    expect(one).not.toBe(other);
  });

  it('leaves out invalid conflicts and servers', () => {
    const conflicts = [{ address: 'x', macAddress: '02:00:00:00:00:01' }, 7, { address: '10.0.0.1' }];
    const rogueServers = [{ address: 'unknown' }, null];
    const observedUses = [{ address: '10.0.0.7' }, { usedBy: '02:00:00:00:00:07' }, 'x', null];
    const routers = [{ address: 'fe80::1%eth0', macAddress: '02:00:00:00:00:05' }, { address: 'fe80::1' }, null];
    const declinedIpv6 = [{ address: '2001:db8::11' }, 'x'];
    const text = JSON.stringify({ 'a/p': { serving: true, conflicts, observedUses, rogueServers, routers, declinedIpv6 } });
    expect(parseAgentReport(text)).toEqual(new Map([['a/p', { serving: true, rogueServers: [], routers: [] }]]));
  });
});

const REPORTED = (Object.keys(REASONS) as Reason[]).filter((name) => isReasonAt('agent report', name));

describe('the report is bounded', () => {
  const octets = (text: string) => Buffer.byteLength(text);
  const conflictOf = (index: number) => ({
    address: `10.0.${Math.floor(index / 256)}.${index % 256}`,
    macAddress: '02:00:00:00:00:01',
    usedBy: '02:00:00:00:00:02',
  });
  const textsOf = (report: ReadonlyMap<string, PoolReport>) =>
    [...report].map(([pool, { serving, reason, version }]) => [pool, serving, reason, version]);

  it('a message for each of 4,096 wrong reservations does not make it too large for an annotation', () => {
    const message = 'spec.ipv4Config.reservations[0].ipAddress: 10.9.9.9 is outside 10.0.0.0/24; correct it; '.repeat(4_096);
    const report = new Map<string, PoolReport>([
      ['default/pool-1', { serving: false, reason: 'PoolInvalid', version: '17', message }],
    ]);
    const text = formatAgentReport(report);
    expect(octets(text)).toBeLessThan(2_048);
    expect(textsOf(parseAgentReport(text))).toEqual(textsOf(report));
  });

  it('messages are cut first, then conflicts; what keeps two groups from serving one pool stays', () => {
    const reportOf = (pools: number, reported: Partial<PoolReport>) =>
      new Map<string, PoolReport>(
        Array.from({ length: pools }, (_, index) => [
          `default/net-${index}`,
          { serving: false, reason: 'Suspended', version: '1234567890', ...reported },
        ]),
      );
    const conflicts = Array.from({ length: 40 }, (_, index) => conflictOf(index));
    const fewConflicts = parseAgentReport(
      formatAgentReport(reportOf(700, { message: 'x'.repeat(400), conflicts: conflicts.slice(0, 1) })),
    );
    expect(fewConflicts.get('default/net-699')).toEqual({
      serving: false,
      reason: 'Suspended',
      version: '1234567890',
      conflicts: conflicts.slice(0, 1),
    });
    const manyConflicts = formatAgentReport(reportOf(700, { message: 'x'.repeat(400), conflicts }));
    expect(octets(manyConflicts)).toBeLessThanOrEqual(MOST_REPORT_OCTETS);
    expect(parseAgentReport(manyConflicts).size).toBe(700);
  });

  it('leaves room in the Lease for 1,000 suspended pools, which the Lease names twice', () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `default/${String(index).padStart(52, 'p')}`);
    const suspended = formatSuspendedPools(keys);
    const names = [AGENT_REPORT_ANNOTATION, SUSPENDED_POOLS_ANNOTATION, SUSPENDED_POOLS_SEEN_ANNOTATION].map(octets);
    const sum = [MOST_REPORT_OCTETS, 2 * octets(suspended), ...names].reduce((total, one) => total + one, 0);
    expect(sum).toBeLessThan(262_144);
  });

  it('a list of other servers that is cut never reads as an empty one, and one of routers is never cut', () => {
    const servers = Array.from({ length: 40 }, (_, index) => ({ address: `10.0.0.${index}`, macAddress: '02:00:00:00:00:04' }));
    for (const pools of [1, 100, 400, 700]) {
      const report = new Map(
        Array.from({ length: pools }, (_, index) => [`default/net-${index}`, { ...FULL, rogueServers: servers }]),
      );
      for (const { rogueServers, routers } of parseAgentReport(formatAgentReport(report)).values()) {
        expect(rogueServers).not.toEqual([]);
        expect([undefined, FULL.routers]).toContainEqual(routers);
      }
    }
  });

  it('law: any report about the pools that one environment variable can name fits, and names the served ones', () => {
    const conflicts = Array.from({ length: 400 }, (_, index) => conflictOf(index));
    const uses = conflicts.map(({ address, macAddress }) => ({ address, usedBy: macAddress, assignedTo: macAddress }));
    const poolKeys = fc.tuple(fc.integer({ min: 3, max: 317 }), fc.integer({ min: 1, max: 800 })).map(([length, wished]) => {
      // As many pools as fit in `AGENT_NETWORK_CONFIGS`, which names each twice.
      const most = Math.min(wished, Math.floor(131_072 / (2 * length + 130)));
      return Array.from({ length: most }, (_, index) => `n/${String(index).padStart(length - 2, '0')}`.slice(0, 317));
    });
    const reported = fc.record(
      {
        serving: fc.boolean(),
        reason: fc.constantFrom(...REPORTED),
        message: fc.string({ unit: 'binary', maxLength: 300 }),
        version: fc.integer({ min: 1 }).map(String),
        conflicts: fc.oneof(fc.nat(3), fc.nat(400)).map((count) => conflicts.slice(0, count)),
        observedUses: fc.nat(64).map((count) => uses.slice(0, count)),
        rogueServers: fc
          .nat(40)
          .map((count) => Array.from({ length: count }, () => ({ address: '10.0.0.1', macAddress: '02:00:00:00:00:04' }))),
        declinedIpv6: fc.nat(64).map((count) =>
          Array.from({ length: count }, (_, index) => ({
            address: `2001:db8:48:0:1::${index}`,
            macAddress: ROUTER.macAddress,
          })),
        ),
        routers: fc
          .nat(8)
          .map((count) => Array.from({ length: count }, (_, index) => ({ ...ROUTER, address: `fe80::${index}` }))),
      },
      { requiredKeys: ['serving'] },
    );
    fc.assert(
      fc.property(poolKeys, fc.array(reported, { minLength: 1, maxLength: 5 }), (keys, some) => {
        const report = new Map(keys.map((key, index) => [key, some[index % some.length] as PoolReport]));
        const text = formatAgentReport(report);
        expect(octets(text)).toBeLessThanOrEqual(MOST_REPORT_OCTETS);
        expect(new Set(textsOf(parseAgentReport(text)).map(String))).toEqual(new Set(textsOf(report).map(String)));
        expect(formatAgentReport(new Map([...report].toReversed()))).toBe(text);
      }),
      { numRuns: 10 },
    );
  }, 30_000);
});
