/** The metrics of the agent. The parts of the agent keep their own counters; these are copied when the metrics are read. */
import type { LeaseEvent, MessageCounters } from '@vmdhcp/dhcp-agent/packet-path';
import type { OpenPoolCounts, PoolCounts } from '@vmdhcp/dhcp-allocator';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface MetricSources {
  readonly counters: MessageCounters;
  readonly leaseEvents: () => ReadonlyMap<LeaseEvent, number>;
  /** Whether each pool that is to be served here is served. */
  readonly served: () => ReadonlyMap<string, boolean>;
  /** Set for an agent that assigns addresses itself; in a cluster, the controller assigns and counts them. */
  readonly allocation?: {
    readonly poolCounts: () => ReadonlyMap<string, PoolCounts>;
    readonly refusedClaims: () => ReadonlyMap<string, number>;
  };
  /** Set for an agent that leases addresses to unknown clients. */
  readonly open?: OpenSources;
  /** Set for an agent that hears who uses addresses: how many hosts of each pool use one that is not assigned to them. */
  readonly observedUses?: () => ReadonlyMap<string, number>;
  /** Set for an agent that has replicas. */
  readonly election?: { readonly isLeading: () => boolean; readonly standbyAnswers: () => number };
  /**
   * Set for an agent that looks for other DHCP servers, but has no pools whose conditions could count them; undefined if not
   * known.
   */
  readonly otherServers?: () => number | undefined;
}

interface OpenSources {
  readonly counts: () => ReadonlyMap<string, OpenPoolCounts>;
  /** The number of failed writes of leases. */
  readonly failures: () => number;
}

export interface Metrics {
  readonly registry: Registry;
  readonly observeBurst: (durationNs: number) => void;
  /**
   * Called when this replica became leader, with the time since the Lease was last renewed or released. Does nothing without
   * replicas.
   */
  readonly observeTakeover: (durationMs: number) => void;
  /** Called when a write of this many records was on the disk, with the time that it took. */
  readonly observeRecorded: (durationMs: number, records: number) => void;
}

const POOL_GAUGES = [
  ['size', 'Addresses of the pool that clients can have.'],
  ['used', 'Addresses that are assigned.'],
  ['free', 'Addresses that can still be assigned.'],
  ['quarantined', 'Addresses that no client gets for a while, because another machine uses them.'],
] as const;

/** Creates the metrics of an agent, which read their sources when they are scraped. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  countMessages(sources, registers);
  describePools(sources, registers);
  if (sources.observedUses !== undefined) describeUses(sources.observedUses, registers);
  if (sources.allocation !== undefined) describeAllocation(sources.allocation, registers);
  const observeTakeover = sources.election === undefined ? () => undefined : describeElection(sources.election, registers);
  if (sources.otherServers !== undefined) describeOtherServers(sources.otherServers, registers);
  const histogram = new Histogram({
    name: 'vmdhcp_agent_answer_duration_seconds',
    help: 'Time from reading a burst of messages to handing all its replies to the kernel; one observation per burst.',
    buckets: [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1],
    registers,
  });
  const observeRecorded = sources.open === undefined ? () => undefined : describeOpenPools(sources.open, registers);
  return { registry, observeBurst: (durationNs) => histogram.observe(durationNs / 1e9), observeTakeover, observeRecorded };
}

function countMessages({ counters, leaseEvents }: MetricSources, registers: Registry[]): void {
  new Counter({
    name: 'vmdhcp_agent_messages_total',
    help: 'Messages of clients by type, by outcome, and by reason if there is one.',
    labelNames: ['type', 'outcome', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const { type, outcome, reason, count } of counters.messages()) this.inc({ type, outcome, reason }, count);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_packets_dropped_total',
    help: 'Packets that are not a message for this server, or whose reply could not be sent, by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of counters.dropped()) this.inc({ reason }, count);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_dhcpv6_packets_total',
    help: 'Packets of DHCPv6 by outcome, and by reason if there was no reply (none).',
    labelNames: ['outcome', 'reason'],
    registers,
    collect() {
      this.reset();
      for (const { outcome, reason, count } of counters.dhcpv6()) this.inc({ outcome, reason }, count);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_options_omitted_total',
    help: 'Options omitted from replies that had no room for them, because of the maximum message size of the client.',
    registers,
    collect() {
      this.reset();
      this.inc(counters.omittedOptions);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_lease_events_total',
    help: 'Events of leases; plain renewals are not counted here.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      for (const [event, count] of leaseEvents()) this.inc({ event }, count);
    },
  });
}

function describePools({ served }: MetricSources, registers: Registry[]): void {
  new Gauge({
    name: 'vmdhcp_agent_pool_served',
    help: '1 if the pool is served on all its interfaces, else 0. Pools that are not to be served here (paused, suspended, a dry run) are left out.',
    labelNames: ['pool'],
    registers,
    collect() {
      this.reset();
      for (const [pool, isServed] of served()) this.set({ pool }, isServed ? 1 : 0);
    },
  });
}

function describeUses(uses: NonNullable<MetricSources['observedUses']>, registers: Registry[]): void {
  new Gauge({
    name: 'vmdhcp_agent_pool_observed_uses',
    help: 'Addresses of the pool that are used by machines to which they are not assigned; only the leader knows them.',
    labelNames: ['pool'],
    registers,
    collect() {
      this.reset();
      for (const [pool, count] of uses()) this.set({ pool }, count);
    },
  });
}

function describeOpenPools({ counts, failures }: OpenSources, registers: Registry[]): Metrics['observeRecorded'] {
  new Gauge({
    name: 'vmdhcp_agent_dynamic_addresses',
    help: 'Addresses that unknown clients may lease, by state: leased, quarantined, declared (an object names the address), kept (for clients that had one) or free.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      this.reset();
      for (const [pool, { valid, quarantined, declared, kept, free }] of counts())
        for (const [state, count] of Object.entries({ leased: valid, quarantined, declared, kept, free }))
          this.set({ pool, state }, count);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_lease_write_failures_total',
    help: 'Writes of leases of unknown clients that failed; their clients got no reply.',
    registers,
    collect() {
      this.reset();
      this.inc(failures());
    },
  });
  const records = new Counter({
    name: 'vmdhcp_agent_lease_records_total',
    help: 'Leases, renewals, releases and quarantines of unknown clients that were written: to the disk, or to the API server (--leases api).',
    registers,
  });
  const durations = new Histogram({
    name: 'vmdhcp_agent_lease_write_duration_seconds',
    help: 'Time until a write of leases of unknown clients survives, on the disk or in the API server; one write contains all waiting leases.',
    buckets: [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2],
    registers,
  });
  return (durationMs, count) => {
    records.inc(count);
    durations.observe(durationMs / 1e3);
  };
}

function describeOtherServers(count: () => number | undefined, registers: Registry[]): void {
  new Gauge({
    name: 'vmdhcp_agent_other_dhcp_servers',
    help: 'Other DHCP servers that answer on the network that this replica serves. Absent: it does not serve, or has not probed yet.',
    labelNames: [],
    registers,
    collect() {
      const found = count();
      if (found === undefined) this.remove();
      else this.set(found);
    },
  });
}

function describeElection(
  { isLeading, standbyAnswers }: NonNullable<MetricSources['election']>,
  registers: Registry[],
): Metrics['observeTakeover'] {
  new Gauge({
    name: 'vmdhcp_agent_leading',
    help: '1 if this replica has the server addresses, else 0.',
    registers,
    collect() {
      this.set(isLeading() ? 1 : 0);
    },
  });
  new Counter({
    name: 'vmdhcp_agent_standby_answers_total',
    help: 'Replies of standbys: to clients that retransmitted because the leader had not answered.',
    registers,
    collect() {
      this.reset();
      this.inc(standbyAnswers());
    },
  });
  const takeovers = new Histogram({
    name: 'vmdhcp_agent_takeover_duration_seconds',
    help: 'From the last renewal or the release of the Lease, as this replica saw it, until this replica became leader.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 60],
    registers,
  });
  return (durationMs) => takeovers.observe(durationMs / 1e3);
}

function describeAllocation(
  { poolCounts, refusedClaims }: NonNullable<MetricSources['allocation']>,
  registers: Registry[],
): void {
  for (const [field, help] of POOL_GAUGES) {
    new Gauge({
      name: `vmdhcp_agent_pool_${field}`,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        this.reset();
        for (const [pool, counts] of poolCounts()) this.set({ pool }, counts[field]);
      },
    });
  }
  new Gauge({
    name: 'vmdhcp_agent_pool_refused_claims',
    help: 'Interfaces of virtual machines that cannot have an address of the pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      this.reset();
      for (const [pool, count] of refusedClaims()) this.set({ pool }, count);
    },
  });
}
