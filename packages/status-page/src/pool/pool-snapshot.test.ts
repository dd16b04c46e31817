import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ADDRESS_STATES, type AddressState, type PoolSummary } from '../model/page-data.js';
import { NO_ADDRESSES } from './draw-map.js';
import { ipPool, mac, type PoolText } from './pool-object-fixtures.js';
import { toPoolPage, toPoolSnapshot } from './pool-snapshot.js';
import { readPoolFacts } from './read-pool-facts.js';

const snapshot = (text: PoolText = {}) => toPoolSnapshot(readPoolFacts(ipPool(text)).facts);

const addresses = fc.integer({ min: 0, max: 15 }).map((last) => `10.0.0.${last}`);
const anyPool = fc.record({
  range: fc.record({ exclude: fc.array(addresses, { maxLength: 3 }) }),
  allocated: fc.dictionary(
    fc.oneof(addresses, fc.string()),
    fc.oneof(fc.nat(20).map(mac), fc.constant('EXCLUDED'), fc.anything()),
  ),
  quarantined: fc.dictionary(addresses, fc.record({ until: fc.oneof(fc.constant('2026-01-01T00:00:00Z'), fc.string()) })),
  config: fc.record({
    cidr: fc.constantFrom('10.0.0.0/28', '10.0.0.0/29', '10.0.0.0/8', '10.0.0.2/31', 'what'),
    reservations: fc.uniqueArray(fc.record({ macAddress: fc.nat(20).map(mac), ipAddress: addresses }), {
      selector: ({ macAddress }) => macAddress,
      maxLength: 4,
    }),
  }),
});

/** The state of each address, one letter each. */
function letters(text: PoolText): string {
  const of: Readonly<Record<AddressState, string>> = {
    free: '.',
    used: 'U',
    reserved: 'R',
    excluded: 'x',
    quarantined: 'q',
    server: 'S',
    router: 'G',
    outside: ' ',
  };
  const runs = snapshot(text).map?.runs ?? [];
  let line = '';
  for (let index = 0; index < runs.length; index += 2)
    line += of[ADDRESS_STATES[runs[index] ?? 0] ?? 'free'].repeat(runs[index + 1] ?? 0);
  return line;
}

describe('the map of a pool', () => {
  it.each<[string, PoolText, string]>([
    ['without clients', {}, ' GS ........    '],
    ['with clients', { allocated: { '10.0.0.4': mac(1), '10.0.0.11': mac(2) } }, ' GS U......U    '],
    ['with exclusions', { range: { exclude: ['10.0.0.5-10.0.0.6'] } }, ' GS .xx.....    '],
    [
      'with marks that the controller writes beside clients',
      { range: { exclude: ['10.0.0.5'] }, allocated: { '10.0.0.5': 'EXCLUDED', '10.0.0.4': mac(1) } },
      ' GS Ux......    ',
    ],
    [
      'with an excluded address that a client has kept',
      { range: { exclude: ['10.0.0.5'] }, allocated: { '10.0.0.5': mac(1) } },
      ' GS .U......    ',
    ],
    [
      'with reservations: one client is there, one is not, one address is outside of the range',
      {
        config: {
          reservations: [
            { macAddress: mac(1), ipAddress: '10.0.0.4' },
            { macAddress: mac(2), ipAddress: '10.0.0.5' },
            { macAddress: mac(3), ipAddress: '10.0.0.13' },
          ],
        },
        allocated: { '10.0.0.4': mac(1) },
      },
      ' GS UR...... R  ',
    ],
    [
      'with an address in quarantine, and one that a client has nevertheless',
      {
        allocated: { '10.0.0.7': mac(1) },
        quarantined: { '10.0.0.6': { until: '2026-01-01T00:00:00Z' }, '10.0.0.7': { until: '2026-01-01T00:00:00Z' } },
      },
      ' GS ..qU....    ',
    ],
    ['with an invalid entry', { allocated: { '10.0.0.9': 'nonsense', what: mac(1) } }, ' GS .....R..    '],
    ['with a server inside of the range', { range: { start: '10.0.0.2', end: '10.0.0.4' } }, ' GS..           '],
    [
      'with a /31, whose addresses are all hosts',
      { config: { cidr: '10.0.0.2/31', router: undefined }, range: { start: '10.0.0.3', end: '10.0.0.3' } },
      'S.',
    ],
  ])('%s', (_, text, map) => {
    expect(letters(text)).toBe(map);
  });

  it('has only a few numbers for a /16 with 40,000 consecutive clients', () => {
    const first = parseIpv4Address('10.1.0.10') ?? 0;
    const allocated = Object.fromEntries(
      Array.from({ length: 40_000 }, (_, index) => [formatIpv4Address(first + index), mac(index)]),
    );
    const config = { cidr: '10.1.0.0/16', serverIP: '10.1.0.2', router: '10.1.0.1' };
    const { map, summary } = snapshot({ config, range: { start: '10.1.0.10', end: '10.1.255.254' }, allocated });
    expect(map?.size).toBe(65_536);
    expect(map?.runs).toEqual([6, 1, 7, 1, 5, 1, 6, 7, 1, 40_000, 0, 25_525, 6, 1]);
    expect(summary.counts).toEqual({ free: 25_525, used: 40_000, reserved: 0, excluded: 0, quarantined: 0 });
  });

  it('does not exist for an invalid pool, whose problem is stated', () => {
    const { map, summary } = snapshot({ config: { cidr: 'what' } });
    expect(map).toBeNull();
    expect(summary).toMatchObject({ cidr: '', state: 'broken', reasons: [{ reason: 'PoolInvalid' }] });
    expect(summary.reasons[0]?.message).toContain('cidr');
  });

  it('law: it covers the subnet exactly once, with neighbours that differ, whatever the object contains', () => {
    fc.assert(
      fc.property(anyPool, (text) => {
        const { map } = snapshot(text);
        if (map === null) return;
        const counts = map.runs.filter((_, index) => index % 2 === 1);
        const states = map.runs.filter((_, index) => index % 2 === 0);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(map.size);
        expect(counts.every((count) => count > 0)).toBe(true);
        expect(states.some((state, index) => index > 0 && states[index - 1] === state)).toBe(false);
      }),
    );
  });
});

describe('counts of a pool', () => {
  const all = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`10.0.0.${4 + index}`, mac(index)]));

  it.each<[string, PoolText, PoolSummary['counts']]>([
    ['a full pool is full, with its router outside', { allocated: all }, { ...NO_ADDRESSES, used: 8 }],
    [
      'a router and a server in the range are not counted as addresses of clients',
      { config: { router: '10.0.0.4', serverIP: '10.0.0.5' } },
      { ...NO_ADDRESSES, free: 6 },
    ],
    [
      'reserved and used addresses outside do not count',
      {
        config: { reservations: [12, 13].map((last) => ({ macAddress: mac(last), ipAddress: `10.0.0.${last}` })) },
        allocated: { '10.0.0.12': mac(12), '10.0.0.4': mac(1) },
      },
      { ...NO_ADDRESSES, free: 7, used: 1 },
    ],
  ])('%s', (_, text, counts) => {
    expect(snapshot(text).summary.counts).toEqual(counts);
  });

  it('law: they cover each address between start and end, except the server and the router', () => {
    fc.assert(
      fc.property(anyPool, (text) => {
        const { map, summary, facts } = snapshot(text);
        if (map === null || facts.pool === undefined || map.size > 16) return;
        const { cidr, range } = facts.pool;
        const within = letters(text).slice(range.first - cidr.network, range.last - cidr.network + 1);
        const of = (letter: string) => within.split(letter).length - 1;
        const counts = { free: of('.'), used: of('U'), reserved: of('R'), excluded: of('x'), quarantined: of('q') };
        expect(summary.counts).toEqual(counts);
      }),
    );
  });
});

describe('the page of a pool', () => {
  it('has conditions with reasons from the common table, the worst first, and no HTML', () => {
    const { facts } = readPoolFacts(
      ipPool({
        conditions: [
          { type: 'CacheReady', status: 'True', reason: 'SegmentShared', message: '<script>alert(1)</script>' },
          {
            type: 'AgentReady',
            status: 'False',
            reason: 'NotScheduled',
            message: 'no node',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
          { type: 'Registered', status: 'False', reason: 'FromAnotherVersion' },
          { type: 'RogueServer', status: 'False', reason: 'None' },
          { type: 7, status: 'True' },
        ],
      }),
    );
    const page = toPoolPage(toPoolSnapshot(facts), 'v1');
    expect(page.summary.state).toBe('broken');
    expect(page.summary.reasons.map(({ reason }) => reason)).toEqual(['NotScheduled', 'FromAnotherVersion', 'SegmentShared']);
    expect(page.summary.reasons[0]).toMatchObject({ message: 'no node', remedy: expect.stringContaining('node') });
    expect(page.summary.reasons[1]).toMatchObject({ meaning: '', remedy: '' });
    expect(page.conditions[1]?.sinceMs).toBe(Date.parse('2026-01-01T00:00:00Z'));
    expect(page.conditions).toHaveLength(4);
  });

  it.each([
    [{ paused: true, conditions: [{ type: 'AgentReady', status: 'False', reason: 'Paused' }] }, 'note'],
    [{ conditions: [{ type: 'AgentReady', status: 'False', reason: 'RollingOut' }] }, 'waiting'],
    [{ conditions: [{ type: 'RogueServer', status: 'True', reason: 'RogueServer' }] }, 'note'],
    [{ conditions: [{ type: 'RouterReady', status: 'False', reason: 'NoRouter' }] }, 'note'],
    [{ conditions: [{ type: 'RouterReady', status: 'Unknown' }] }, 'ok'],
    [{ conditions: [{ type: 'AgentReady', status: 'True' }] }, 'ok'],
    [{ conditions: [{ type: 'AgentReady', status: 'False' }] }, 'broken'],
    [{ conditions: [] }, 'waiting'],
  ] as const)('%j is %s', (text, state) => {
    expect(snapshot(text).summary.state).toBe(state);
  });

  it('lists addresses in quarantine with their users', () => {
    const quarantined = { '10.0.0.6': { until: '2026-01-01T00:00:00Z', usedBy: mac(9) }, nonsense: {} };
    expect(toPoolPage(snapshot({ quarantined }), 'v1').quarantined).toEqual([
      { address: '10.0.0.6', untilMs: Date.parse('2026-01-01T00:00:00Z'), usedBy: mac(9) },
    ]);
  });
});
