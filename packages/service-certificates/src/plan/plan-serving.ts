import type { CertificateFacts, MaterialFault, ObservedPair } from './certificate-facts.js';
import { renewalTimeMs } from './certificate-times.js';

/** The serving certificate as the Secret has it. */
export interface ObservedServing {
  readonly pair: ObservedPair;
  /** The issuer has signed it. */
  readonly isIssuedByIssuer: boolean;
  /** When the issuer expires; its certificates end no later. */
  readonly issuerNotAfterMs: number;
  /** True if the trusted certificates in the Secret of the certificate equal those that the authority publishes. */
  readonly repeatsPublished: boolean;
}

/** Why a serving certificate is issued. */
export type IssuanceReason =
  | MaterialFault
  | 'missing'
  | 'issued-by-another-authority'
  | 'names-changed'
  | 'expired'
  | 'not-valid-yet'
  | 'renewal-due';

/** The next step for the serving certificate. */
export type ServingStep =
  | { readonly kind: 'issue'; readonly reason: IssuanceReason }
  /** The certificate stays; only the trusted certificates beside it are written. */
  | { readonly kind: 'republish' }
  | { readonly kind: 'keep'; readonly checkAtMs: number };

/** Plans the next step for a certificate of the authority. @param names - DNS names and IP addresses that it must have. */
export function planServing(observed: ObservedServing, names: readonly string[], nowMs: number): ServingStep {
  const { pair } = observed;
  if (pair.kind === 'missing') return { kind: 'issue', reason: 'missing' };
  if (pair.kind === 'faulty') return { kind: 'issue', reason: pair.fault };
  const reason = reasonToIssue(observed, pair.facts, { names, nowMs });
  if (reason !== undefined) return { kind: 'issue', reason };
  return observed.repeatsPublished ? { kind: 'keep', checkAtMs: renewalTimeMs(pair.facts) } : { kind: 'republish' };
}

interface Wanted {
  readonly names: readonly string[];
  readonly nowMs: number;
}

function reasonToIssue(
  { isIssuedByIssuer, issuerNotAfterMs }: ObservedServing,
  facts: CertificateFacts,
  { names, nowMs }: Wanted,
): IssuanceReason | undefined {
  if (!isIssuedByIssuer) return 'issued-by-another-authority';
  if (facts.notAfterMs <= nowMs) return 'expired';
  if (facts.notBeforeMs > nowMs) return 'not-valid-yet';
  if (facts.names.join() !== names.toSorted().join()) return 'names-changed';
  return nowMs >= renewalTimeMs(facts) && facts.notAfterMs < issuerNotAfterMs ? 'renewal-due' : undefined;
}
