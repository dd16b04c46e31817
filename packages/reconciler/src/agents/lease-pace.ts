/**
 * Decides how often the leaders of agent groups renew their Leases. Each renewal is a write in etcd, and there is one Lease for each group: with many
 * groups, each renews less often, so that all of them together do not exceed what a cluster can spare. All times are whole milliseconds.
 */

/** The approximate period of leaders without a setting. */
const OWN_PERIOD_MS = 500;
/** A period is shortened only if it is longer than needed by this factor, so that it stays while groups come and go. */
const MOST_TOO_LONG = 2;

/** The period at which this many leaders reach the allowed rate. */
export function neededRenewPeriodMs(groups: number, writesPerSecond: number): number {
  return (groups * 1_000) / writesPerSecond;
}

/**
 * The period for the Lease of a group, from a series in which each value is a half or a third longer than the one before, so that few values are ever
 * written. Undefined if leaders do not renew too often by themselves.
 * @param currentMs - the current period in the Lease.
 */
export function renewPeriodMs(neededMs: number, currentMs: number | undefined): number | undefined {
  if (currentMs !== undefined && currentMs >= neededMs && currentMs < neededMs * MOST_TOO_LONG) return currentMs;
  if (neededMs <= OWN_PERIOD_MS) return undefined;
  const doubledMs = OWN_PERIOD_MS * 2 ** Math.ceil(Math.log2(neededMs / OWN_PERIOD_MS));
  const lessMs = doubledMs * 0.75;
  return lessMs >= neededMs ? lessMs : doubledMs;
}

/** The longest period that a deleted Lease may have specified; 0 if it does not matter. Leaders may have kept a period that is no longer needed. */
export function mostRenewPeriodMs(neededMs: number): number {
  return renewPeriodMs(neededMs * MOST_TOO_LONG, undefined) ?? 0;
}
