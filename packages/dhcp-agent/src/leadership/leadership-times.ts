/** How long a leadership lasts, and for how long the kernel keeps the addresses that go with it. */
import type { ElectionTimes } from '@vmdhcp/kube-runtime';

/**
 * The kernel counts whole seconds, and removes an address up to a quarter of a second late; the rest of the margin is for the time between computing
 * the lifetime and the kernel call.
 */
const KERNEL_MARGIN_MS = 350;
/** The part of the margin for that time: an agent that takes longer removes the address again. */
export const MOST_CALL_MS = 90;
/** Leadership ends this much earlier than the Lease. */
const DEADLINE_MARGIN_MS = 750;
const ATTEMPTS_BEFORE_DEADLINE = 4;

/** A shorter Lease would leave no whole second for an address between renewals. */
export const LEAST_LEASE_SECONDS = 2.5;
/** How long other replicas wait for a leader that does not renew, unless a setting says otherwise. */
export const DEFAULT_LEASE_SECONDS = 2.75;

/** @param leaseSeconds - how long other replicas wait for a missing leader before one of them becomes leader. */
export function electionTimes(leaseSeconds: number): ElectionTimes {
  const leaseDurationMs = leaseSeconds * 1000;
  const renewDeadlineMs = leaseDurationMs - DEADLINE_MARGIN_MS;
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs: renewDeadlineMs / ATTEMPTS_BEFORE_DEADLINE };
}

/**
 * Until when an address may stay on an interface.
 * @param untilMs - when the leadership ends, if the Lease is not renewed.
 */
export function addressEndMs({ leaseDurationMs, renewDeadlineMs }: ElectionTimes, untilMs: number): number {
  return untilMs + (leaseDurationMs - renewDeadlineMs) - KERNEL_MARGIN_MS;
}
