import type { CertificateFacts } from './certificate-facts.js';

/** Durations in milliseconds. */
export interface CertificateTimes {
  readonly authorityLifetimeMs: number;
  readonly servingLifetimeMs: number;
  /** How long a new authority is published before it issues, so that all clients trust it by then. */
  readonly publishedForMs: number;
  /** Certificates are valid from this long before their creation, because clocks differ. */
  readonly backdatedMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long certificates last, and when they are replaced, unless settings say otherwise. */
export const DEFAULT_TIMES: CertificateTimes = {
  authorityLifetimeMs: 730 * DAY_MS,
  servingLifetimeMs: 90 * DAY_MS,
  publishedForMs: 24 * HOUR_MS,
  backdatedMs: DAY_MS,
};

/** Before two thirds of the lifetime, because the following steps, above all the publishing of an authority, take time. */
const RENEWED_AT = 0.6;

/** When to renew a certificate: when 40 % of its lifetime remain. */
export function renewalTimeMs({ notBeforeMs, notAfterMs }: CertificateFacts): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * RENEWED_AT;
}
