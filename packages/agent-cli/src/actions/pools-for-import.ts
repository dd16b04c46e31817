import { describePoolsFileFinding, loadPoolsFile } from '@vmdhcp/bare-host-agent/pools-file';
import { formatIpv4Address, type Ipv4Address, mayBeKept, type Pool, rangeContains } from '@vmdhcp/dhcp-allocator';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

interface PoolOptions {
  /** A pools file. */
  readonly pools?: string;
  /** The pool of every lease. */
  readonly pool?: string;
}

/** The pool into which an address is imported. */
export async function poolsForImport({ pools, pool }: PoolOptions): Promise<(address: Ipv4Address) => string | undefined> {
  if (pools === undefined) {
    if (pool === undefined)
      throw new CommandError(
        'import needs --pools FILE, or --pool for every lease (NAMESPACE/NAME of an IPPool, or the NAME of a ClusterAgent), or --cluster-agent NAME to write into a cluster',
        ExitCode.usage,
      );
    return () => pool;
  }
  const loaded = await loadPoolsFile(pools);
  if (!loaded.ok) {
    const problems = loaded.problems.map((finding) => describePoolsFileFinding(pools, finding)).join('\n');
    throw new CommandError(problems, loaded.missing ? ExitCode.noInput : ExitCode.invalidData);
  }
  const known = [...loaded.file.pools].map(([name, configured]) => ({ name, pool: configured.pool }));
  return (address) => poolThatLeases(address, known);
}

/**
 * Several pools may have the address; the one that leases it must know whose it is.
 *
 * @throws CommandError if several do.
 */
function poolThatLeases(
  address: Ipv4Address,
  known: readonly { readonly name: string; readonly pool: Pool }[],
): string | undefined {
  const possible = known.filter(({ pool }) => mayBeKept(pool, address));
  const leasing = (field: 'dynamic' | 'ranges') =>
    possible.filter(({ pool }) => pool[field].some((range) => rangeContains(range, address)));
  const [first, second] = [leasing('dynamic'), leasing('ranges')].find(({ length }) => length > 0) ?? [];
  if (first !== undefined && second !== undefined)
    throw new CommandError(
      `${formatIpv4Address(address)} may be leased by the pools ${first.name} and ${second.name}: nothing is imported; give pools whose ranges are apart, or --pool for every lease`,
      ExitCode.invalidData,
    );
  return (first ?? possible[0])?.name;
}
