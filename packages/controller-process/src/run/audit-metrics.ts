/** The metrics about records of who had which address: the leader keeps the records, so only it has them. */
import type { AssignmentRecord, AuditFacts, ControllerObserver } from '@vmdhcp/reconciler';
import { ReadGauge, type Series } from '@vmdhcp/service-process/metrics';
import { Counter, type Registry } from 'prom-client';

export interface AuditCounters {
  readonly onRecords: (records: readonly AssignmentRecord[]) => void;
  readonly onDropped: NonNullable<ControllerObserver['onAuditDropped']>;
}

/** Registers the counters. Every series begins with 0: one that first appears with a number has no increase. */
export function createAuditCounters(registers: Registry[]): AuditCounters {
  const events = new Counter({
    name: 'vmdhcpcontroller_audit_events_total',
    help: 'Assignments of addresses that began or ended, as the audit records them.',
    labelNames: ['event'],
    registers,
  });
  const dropped = new Counter({
    name: 'vmdhcpcontroller_audit_records_dropped_total',
    help: 'Records of assignments that are not kept: deleted, oldest first, because all records had reached their limit (limit); or given up before it was known that they are stored (not-stored), so their times are less exact.',
    labelNames: ['reason'],
    registers,
  });
  for (const event of ['began', 'ended']) events.inc({ event }, 0);
  for (const reason of ['limit', 'not-stored']) dropped.inc({ reason }, 0);
  return {
    onRecords: (records) => {
      for (const { end } of records) events.inc({ event: end === undefined ? 'began' : 'ended' });
    },
    onDropped: (reason, count) => dropped.inc({ reason }, count),
  };
}

const GAUGES = {
  stored_bytes: {
    help: 'Size of all stored records of assignments. Only the leader has this metric and the others of the audit.',
    read: ({ storedOctets }: AuditFacts) => storedOctets,
  },
  limit_bytes: {
    help: 'Size of all stored records from which on the oldest ones are deleted (--audit-mebibytes).',
    read: ({ mostOctets }: AuditFacts) => mostOctets,
  },
  pending_records: {
    help: 'Records of assignments that are not stored yet.',
    read: ({ pendingRecords }: AuditFacts) => pendingRecords,
  },
  complete_until_timestamp_seconds: {
    help: 'Events of addresses before this time are stored, in seconds since 1970.',
    read: ({ completeUntilMs }: AuditFacts) => completeUntilMs / 1000,
  },
} as const;

/** Registers the gauges, which are read on demand. @param facts - undefined if this process keeps no records now. */
export function describeAudit(facts: () => AuditFacts | undefined, registers: Registry[]): void {
  for (const [name, { help, read }] of Object.entries(GAUGES))
    new ReadGauge({
      name: `vmdhcpcontroller_audit_${name}`,
      help,
      labelNames: [],
      registers,
      read: () => [facts()].flatMap((known) => (known === undefined ? [] : { labels: {}, value: read(known) })),
    });
  new ReadGauge({
    name: 'vmdhcpcontroller_audit_complete_since_timestamp_seconds',
    help: 'Since when the records of an IPPool are complete, in seconds since 1970: this advances when old records are deleted.',
    labelNames: ['ippool'],
    registers,
    read: () => reachOf(facts()),
  });
}

function* reachOf(facts: AuditFacts | undefined): Generator<Series<'ippool'>> {
  for (const [ippool, ms] of facts?.reachBackMs ?? []) yield { labels: { ippool }, value: ms / 1000 };
}
