import { type BindingRecord, formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { formatIscLeases, type IscLease, toIscLeases } from '@vmdhcp/dhcp-allocator/isc-leases';
import { readBindings } from '@vmdhcp/lease-stores';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

export interface ExportLeasesOptions {
  readonly isc: true;
  readonly stateDir?: string;
  readonly pool?: string;
  readonly clusterAgent?: string;
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/** Prints the bindings of a state directory, or of a ClusterAgent, as a lease file of ISC dhcpd. */
export async function exportLeases(options: ExportLeasesOptions): Promise<void> {
  const { stateDir, pool } = options;
  const byPool = Map.groupBy(await readRecords(options), ({ poolName }) => poolName);
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

async function readRecords({
  stateDir,
  clusterAgent,
  namespace,
  ...options
}: ExportLeasesOptions): Promise<readonly BindingRecord[]> {
  if (stateDir !== undefined) return await readBindings(stateDir);
  if (clusterAgent === undefined)
    throw new CommandError(
      'export needs --state-dir DIR, or --cluster-agent NAME for leases that agents keep in the cluster',
      ExitCode.usage,
    );
  if (!namespace)
    throw new CommandError(
      '--cluster-agent needs --namespace, the namespace of the agents, for example vm-dhcp-agents',
      ExitCode.usage,
    );
  const { readFromCluster } = await import('./export-from-cluster.js');
  return await readFromCluster({ ...options, clusterAgent, namespace });
}

/** A dhcpd file has one lease for each address. */
function refuseTwice(leases: readonly IscLease[]): void {
  const seen = new Set<number>();
  for (const { address } of leases) {
    if (seen.has(address))
      throw new CommandError(`two pools have ${formatIpv4Address(address)}: export each with --pool`, ExitCode.invalidData);
    seen.add(address);
  }
}
