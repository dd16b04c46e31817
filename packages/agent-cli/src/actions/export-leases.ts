import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { formatIscLeases, type IscLease, toIscLeases } from '@vmdhcp/dhcp-allocator/isc-leases';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { readBindings } from '../bindings/moved-bindings.js';

export interface ExportOptions {
  readonly isc: true;
  readonly stateDir: string;
  readonly pool?: string;
}

/** Prints the bindings of a state directory as a lease file of ISC dhcpd. */
export async function exportLeases({ stateDir, pool }: ExportOptions): Promise<void> {
  const byPool = Map.groupBy(await readBindings(stateDir), ({ poolName }) => poolName);
  const chosen = [...byPool].filter(([name]) => pool === undefined || name === pool);
  if (pool !== undefined && chosen.length === 0)
    throw new CommandError(
      `${stateDir} has no bindings of pool ${pool}; it has ${[...byPool.keys()].join(', ')}`,
      ExitCode.noInput,
    );
  const leases = chosen.flatMap(([, records]) => toIscLeases(records, Date.now()));
  refuseTwice(leases);
  for (const text of formatIscLeases(leases)) process.stdout.write(text);
}

/** A file of dhcpd has one lease for each address. */
function refuseTwice(leases: readonly IscLease[]): void {
  const seen = new Set<number>();
  for (const { address } of leases) {
    if (seen.has(address))
      throw new CommandError(`two pools have ${formatIpv4Address(address)}: export each with --pool`, ExitCode.invalidData);
    seen.add(address);
  }
}
