import type { LeaseView } from './lease-view.js';

/** Formats leases for a person: one line each, in aligned columns. There is a column of IPv6 addresses if any lease has one. */
export function formatLeaseTable(leases: readonly LeaseView[]): string {
  const hasIpv6 = leases.some(({ ipv6Address }) => ipv6Address !== undefined);
  const header = ['POOL', 'ADDRESS', ...(hasIpv6 ? ['IPV6'] : []), 'MAC', 'HOSTNAME', 'OWNER', 'STATE', 'EXPIRES'];
  const rows = leases.map(({ pool, address, ipv6Address, macAddress, hostname, owner, state, expires }) => [
    pool,
    address,
    ...(hasIpv6 ? [ipv6Address ?? '-'] : []),
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
