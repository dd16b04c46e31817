import type { CertificateFacts, MaterialFault, ObservedPair } from './certificate-facts.js';
import { renewalTimeMs } from './certificate-times.js';

export interface ObservedServing {
  readonly pair: ObservedPair;
  /** The issuer has signed it. */
  readonly isIssuedByIssuer: boolean;
  /** When the issuer expires: no certificate of it ends later. */
  readonly issuerNotAfterMs: number;
  /** What clients trust, as the Secret of the certificate repeats it, is what the authority publishes. */
  readonly repeatsPublished: boolean;
}

export type IssueReason =
  | MaterialFault
  | 'missing'
  | 'issued-by-another-authority'
  | 'names-changed'
  | 'expired'
  | 'not-valid-yet'
  | 'renewal-due';

export type ServingStep =
  | { readonly kind: 'issue'; readonly reason: IssueReason }
  /** The certificate stays; what clients trust is written beside it. */
  | { readonly kind: 'republish' }
  | { readonly kind: 'keep'; readonly checkAtMs: number };

/** What is to be done about a certificate that the authority issues. @param names - DNS names and IP addresses it must have. */
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
): IssueReason | undefined {
  if (!isIssuedByIssuer) return 'issued-by-another-authority';
  if (facts.notAfterMs <= nowMs) return 'expired';
  if (facts.notBeforeMs > nowMs) return 'not-valid-yet';
  if (facts.names.join() !== names.toSorted().join()) return 'names-changed';
  return nowMs >= renewalTimeMs(facts) && facts.notAfterMs < issuerNotAfterMs ? 'renewal-due' : undefined;
}
