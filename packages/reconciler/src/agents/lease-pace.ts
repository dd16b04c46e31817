/**
 * How often the leaders of agent groups renew their Leases. Each renewal is a write in etcd, and there is one Lease for each group: from some number of
 * groups on they take turns, so that all of them together write no more than a cluster can spare. All times are whole milliseconds.
 */

/** By themselves leaders renew about as often as this. */
const OWN_PERIOD_MS = 500;
/** A period that is longer than needed by this factor is shortened: one that was written stays while groups come and go. */
const MOST_TOO_LONG = 2;

/** The period at which so many leaders write as often as they may. */
export function neededRenewPeriodMs(groups: number, writesPerSecond: number): number {
  return (groups * 1_000) / writesPerSecond;
}

/**
 * The period that the Lease of a group has to specify: of a series in which each is half as long again or a third longer than the one before, so that few of
 * them are ever written. Undefined: none, as leaders by themselves do not renew too often.
 * @param currentMs - what the Lease specifies now.
 */
export function renewPeriodMs(neededMs: number, currentMs: number | undefined): number | undefined {
  if (currentMs !== undefined && currentMs >= neededMs && currentMs < neededMs * MOST_TOO_LONG) return currentMs;
  if (neededMs <= OWN_PERIOD_MS) return undefined;
  const doubledMs = OWN_PERIOD_MS * 2 ** Math.ceil(Math.log2(neededMs / OWN_PERIOD_MS));
  const lessMs = doubledMs * 0.75;
  return lessMs >= neededMs ? lessMs : doubledMs;
}

/** The longest period that a Lease which was deleted may have specified; 0: none that matters. Leaders that need none may have kept one. */
export function mostRenewPeriodMs(neededMs: number): number {
  return renewPeriodMs(neededMs * MOST_TOO_LONG, undefined) ?? 0;
}
