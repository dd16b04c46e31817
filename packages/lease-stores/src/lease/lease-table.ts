import type { LeaseView } from './lease-view.js';

/** Formats leases for a person: one line each, in aligned columns. */
export function formatLeaseTable(leases: readonly LeaseView[]): string {
  const header = ['POOL', 'ADDRESS', 'MAC', 'HOSTNAME', 'OWNER', 'STATE', 'EXPIRES'];
  const rows = leases.map(({ pool, address, macAddress, hostname, owner, state, expires }) => [
    pool,
    address,
    macAddress,
    hostname ?? '-',
    owner ?? '-',
    state,
    expires ?? '-',
  ]);
  const widths = header.map((_, column) =>
    [header, ...rows].reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  const lines = [header, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}
