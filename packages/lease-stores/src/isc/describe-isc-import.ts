import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import type { ImportedIscLease, IscLeaseOutcome, IscLeaseReading } from '@vmdhcp/dhcp-allocator/isc-leases';
import { describeCount } from '@vmdhcp/kube-runtime';

/** The meaning of each outcome, in the order of the output. */
const OUTCOMES = {
  leased: 'taken: leased until its end',
  'previous-address': 'taken: ended; the client gets the address again',
  'quarantined-abandoned': 'taken: abandoned; leased to no client for up to a day',
  'quarantined-no-ethernet-address': 'taken: active without an Ethernet address; leased to no client until its end',
  'quarantined-second-address': 'taken: active, but its client has a later one; leased to no client until its end',
  'quarantined-unreadable': 'taken: the entry cannot be read; leased to no client until its end, or that of the longest lease',
  'client-has-later-lease': 'not taken: ended, and its client has a later lease',
  'nothing-to-keep': 'not taken: free, and no client is known',
  'no-pool': 'not taken: no pool has the address',
} as const satisfies Readonly<Record<IscLeaseOutcome, string>>;

const MOST_LINES_SHOWN = 8;

/** A table of outcomes, with the line numbers of the first leases of each; then what was skipped. */
export function describeIscImport(
  imported: readonly ImportedIscLease[],
  { entryCount, leases, unreadable, skipped }: IscLeaseReading,
): string {
  const rows = Object.entries(OUTCOMES).flatMap(([outcome, meaning]) => {
    const lines = imported.filter((each) => each.outcome === outcome).map(({ lease }) => lease.line);
    return lines.length === 0 ? [] : [row(lines.length, meaning, ` (${describeLines(lines)})`)];
  });
  const replaced = entryCount - leases.length;
  if (replaced > 0) rows.push(row(replaced, 'not taken: a later entry of the same address counts'));
  for (const [word, count] of skipped) rows.push(row(count, `skipped: statement ${word}`));
  const [entries, addresses] = [
    describeCount(entryCount, 'entry', 'entries'),
    describeCount(leases.length + unreadable.length, 'address', 'addresses'),
  ];
  return `${entries}, ${addresses}\n${rows.join('')}`;
}

/** The same for programs: one object for each lease. */
export function toIscImportView({ lease, outcome, record }: ImportedIscLease): object {
  const { address, line, ...fields } = lease;
  return {
    address: formatIpv4Address(address),
    line,
    outcome,
    ...(record !== undefined && { pool: record.poolName }),
    ...fields,
  };
}

function row(count: number, meaning: string, more = ''): string {
  return `${String(count).padStart(8)}  ${meaning}${more}\n`;
}

function describeLines(lines: readonly number[]): string {
  const shown = lines.toSorted((one, other) => one - other).slice(0, MOST_LINES_SHOWN);
  const rest = lines.length - shown.length;
  return `line ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
