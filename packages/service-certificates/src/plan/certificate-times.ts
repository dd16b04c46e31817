import type { CertificateFacts } from './certificate-facts.js';

/** Durations in milliseconds. */
export interface CertificateTimes {
  readonly authorityLifetimeMs: number;
  readonly servingLifetimeMs: number;
  /** How long a new authority is published before it issues: clients must have learned to trust it by then. */
  readonly publishedForMs: number;
  /** Certificates are valid from so long before they were made: clocks differ. */
  readonly backdatedMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_TIMES: CertificateTimes = {
  authorityLifetimeMs: 730 * DAY_MS,
  servingLifetimeMs: 90 * DAY_MS,
  publishedForMs: 24 * HOUR_MS,
  backdatedMs: DAY_MS,
};

/** Before two thirds: what follows the decision, the publishing of an authority above all, takes its time. */
const RENEWED_AT = 0.6;

/** When a certificate is to be renewed: while 40 % of its lifetime are left. */
export function renewalTimeMs({ notBeforeMs, notAfterMs }: CertificateFacts): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * RENEWED_AT;
}
