/** How long a lead lasts, and for how long the kernel is told to keep the addresses that go with it. */
import type { ElectionTimes } from '@vmdhcp/kube-runtime';

/**
 * The kernel counts seconds, and takes an address away up to a quarter of one late; what is left is for the time between asking how
 * much there is and telling the kernel.
 */
const KERNEL_MARGIN_MS = 350;
/** The part of it for that time: who takes longer takes the address away again. */
export const MOST_TELLING_MS = 90;
/** A leader that has not renewed for so much less than the Lease lasts leads no more. */
const DEADLINE_MARGIN_MS = 750;
const ATTEMPTS_BEFORE_DEADLINE = 4;

/** Less leaves no whole second for an address while the lead is renewed. */
export const LEAST_LEASE_SECONDS = 2.5;
export const DEFAULT_LEASE_SECONDS = 2.75;

export function electionTimes(leaseSeconds: number): ElectionTimes {
  const leaseDurationMs = leaseSeconds * 1000;
  const renewDeadlineMs = leaseDurationMs - DEADLINE_MARGIN_MS;
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs: renewDeadlineMs / ATTEMPTS_BEFORE_DEADLINE };
}

/**
 * For how long from now an address may stay on an interface.
 * @param remainingMs - how long the lead lasts, if it is not renewed.
 */
export function safeAddressMs({ leaseDurationMs, renewDeadlineMs }: ElectionTimes, remainingMs: number): number {
  return remainingMs + (leaseDurationMs - renewDeadlineMs) - KERNEL_MARGIN_MS;
}
