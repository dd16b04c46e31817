import type { LeaseEvent, MessageCounters } from '@vmdhcp/dhcp-agent/packet-path';
import { describe, expect, it } from 'vitest';
import { createMetrics, type MetricSources } from './metrics.js';

/** The counts of an agent so far; a test changes them between two reads of the page. */
function sourcesOf(more: Partial<MetricSources> = {}) {
  const messages = [
    { type: 'discover', outcome: 'offer', reason: '', count: 2 },
    { type: 'request', outcome: 'nak', reason: 'address-not-its-own', count: 1 },
  ];
  const counters = {
    messages: () => messages,
    dropped: () => new Map([['too-short', 4]]),
    dhcpv6: () => [{ outcome: 'none', reason: 'unknown-client', count: 6 }],
    omittedOptions: 5,
  };
  const events = new Map<LeaseEvent, number>([['bound', 7]]);
  const served = new Map([
    ['default/net-48', true],
    ['default/net-49', false],
  ]);
  const sources: MetricSources = {
    counters: counters as unknown as MessageCounters,
    leaseEvents: () => events,
    served: () => served,
    ...more,
  };
  return { sources, messages, served };
}

async function ownLines({ registry }: ReturnType<typeof createMetrics>): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcp_agent_'));
}

describe('the metrics of an agent', () => {
  it('have the current counts, each time they are read', async () => {
    const { sources, messages, served } = sourcesOf();
    const metrics = createMetrics(sources);
    const before = [
      'vmdhcp_agent_messages_total{type="discover",outcome="offer",reason=""} 2',
      'vmdhcp_agent_messages_total{type="request",outcome="nak",reason="address-not-its-own"} 1',
      'vmdhcp_agent_packets_dropped_total{reason="too-short"} 4',
      'vmdhcp_agent_dhcpv6_packets_total{outcome="none",reason="unknown-client"} 6',
      'vmdhcp_agent_options_omitted_total 5',
      'vmdhcp_agent_lease_events_total{event="bound"} 7',
      'vmdhcp_agent_pool_served{pool="default/net-48"} 1',
      'vmdhcp_agent_pool_served{pool="default/net-49"} 0',
    ];
    expect(await ownLines(metrics)).toEqual(expect.arrayContaining(before));
    Object.assign(messages[0] ?? {}, { count: 3 });
    served.delete('default/net-49');
    const after = await ownLines(metrics);
    expect(after).toContain('vmdhcp_agent_messages_total{type="discover",outcome="offer",reason=""} 3');
    expect(after.filter((line) => line.includes('net-49'))).toEqual([]);
  });

  it('have no addresses if the controller assigns them, and no leader if there are no replicas', async () => {
    const lines = await ownLines(createMetrics(sourcesOf().sources));
    const foreign = /vmdhcp_agent_(pool_(size|used|free|quarantined|refused_claims)|leading|standby)/;
    expect(lines.filter((line) => foreign.test(line))).toEqual([]);
  });

  it('count machines with addresses of others, for an agent that hears them', async () => {
    const lines = await ownLines(createMetrics(sourcesOf({ observedUses: () => new Map([['default/net-48', 2]]) }).sources));
    expect(lines).toContain('vmdhcp_agent_pool_observed_uses{pool="default/net-48"} 2');
  });

  it('count addresses of an agent that assigns them itself', async () => {
    const counts = { size: 10, used: 3, free: 6, quarantined: 1 };
    const allocation = {
      poolCounts: () => new Map([['blue', counts as never]]),
      refusedClaims: () => new Map([['blue', 2]]),
    };
    expect(await ownLines(createMetrics(sourcesOf({ allocation }).sources))).toEqual(
      expect.arrayContaining([
        'vmdhcp_agent_pool_size{pool="blue"} 10',
        'vmdhcp_agent_pool_used{pool="blue"} 3',
        'vmdhcp_agent_pool_free{pool="blue"} 6',
        'vmdhcp_agent_pool_quarantined{pool="blue"} 1',
        'vmdhcp_agent_pool_refused_claims{pool="blue"} 2',
      ]),
    );
  });

  it('count other DHCP servers only while they are known', async () => {
    let found: number | undefined = 2;
    const metrics = createMetrics(sourcesOf({ otherServers: () => found }).sources);
    const first = await ownLines(metrics);
    found = undefined;
    const name = 'vmdhcp_agent_other_dhcp_servers';
    expect([first.includes(`${name} 2`), (await ownLines(metrics)).some((line) => line.startsWith(name))]).toEqual([true, false]);
  });

  it('distinguish the leader from standbys', async () => {
    let isLeading = false;
    const metrics = createMetrics(sourcesOf({ election: { isLeading: () => isLeading, standbyAnswers: () => 9 } }).sources);
    const first = await ownLines(metrics);
    isLeading = true;
    expect([first, await ownLines(metrics)]).toEqual([
      expect.arrayContaining(['vmdhcp_agent_leading 0', 'vmdhcp_agent_standby_answers_total 9']),
      expect.arrayContaining(['vmdhcp_agent_leading 1']),
    ]);
  });

  it('have the time of each take-over in seconds', async () => {
    const metrics = createMetrics(sourcesOf({ election: { isLeading: () => true, standbyAnswers: () => 0 } }).sources);
    metrics.observeTakeover(80);
    metrics.observeTakeover(2_800);
    const lines = await ownLines(metrics);
    expect(lines).toEqual(
      expect.arrayContaining([
        'vmdhcp_agent_takeover_duration_seconds_bucket{le="0.05"} 0',
        'vmdhcp_agent_takeover_duration_seconds_bucket{le="0.1"} 1',
        'vmdhcp_agent_takeover_duration_seconds_bucket{le="3"} 2',
        'vmdhcp_agent_takeover_duration_seconds_sum 2.88',
      ]),
    );
  });

  it('count records of an agent that leases addresses to unknown clients, and have the time of each write in seconds', async () => {
    const metrics = createMetrics(sourcesOf({ open: { counts: () => new Map(), failures: () => 3 } }).sources);
    metrics.observeRecorded(7, 4);
    metrics.observeRecorded(60, 1);
    const lines = await ownLines(metrics);
    expect(lines).toEqual(
      expect.arrayContaining([
        'vmdhcp_agent_lease_records_total 5',
        'vmdhcp_agent_lease_write_duration_seconds_bucket{le="0.005"} 0',
        'vmdhcp_agent_lease_write_duration_seconds_bucket{le="0.01"} 1',
        'vmdhcp_agent_lease_write_duration_seconds_count 2',
        'vmdhcp_agent_lease_write_failures_total 3',
      ]),
    );
  });

  it('have the time of each burst in seconds', async () => {
    const metrics = createMetrics(sourcesOf().sources);
    metrics.observeBurst(200_000);
    metrics.observeBurst(20_000_000);
    const lines = await ownLines(metrics);
    expect(lines).toContain('vmdhcp_agent_answer_duration_seconds_bucket{le="0.0001"} 0');
    expect(lines).toContain('vmdhcp_agent_answer_duration_seconds_bucket{le="0.00025"} 1');
    expect(lines).toContain('vmdhcp_agent_answer_duration_seconds_count 2');
  });
});
