/** How often the leader of a group of agents renews its Lease: the controller writes it, so that all Leases together cost a bounded number of writes. */

/** A longer period could leave a network without its server address for more than an hour. */
export const MOST_RENEW_PERIOD_MS = 3_600_000;

/** The text of the Lease's annotation. @param renewPeriodMs - whole milliseconds. */
export function formatRenewPeriodMs(renewPeriodMs: number): string {
  return String(renewPeriodMs);
}

/** Milliseconds, 1 to `MOST_RENEW_PERIOD_MS`; undefined if the annotation is missing or cannot be read. Never throws. */
export function parseRenewPeriodMs(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}$/.test(text)) return undefined;
  const periodMs = Number(text);
  return periodMs === 0 ? undefined : Math.min(periodMs, MOST_RENEW_PERIOD_MS);
}
