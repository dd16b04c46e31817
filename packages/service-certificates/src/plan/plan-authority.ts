/**
 * Plans the next step for the authority, as a value. The order of a rotation keeps every request working: a successor is created and published, then
 * it issues, and the former authority stays published until it expires.
 */
import type { CertificateFacts, MaterialFault, ObservedPair } from './certificate-facts.js';
import { type CertificateTimes, renewalTimeMs } from './certificate-times.js';

/** The authority as the Secrets have it. */
export interface ObservedAuthority {
  /** Issues certificates. */
  readonly issuer: ObservedPair;
  /** Is published, and will issue. */
  readonly successor: ObservedPair;
  /** Authorities that issued before, and are still published. */
  readonly retired: readonly CertificateFacts[];
  /** Fingerprints of the published certificates, in order; undefined if they cannot be read. */
  readonly published: readonly string[] | undefined;
}

/** Why a new authority replaces the former one without being published first. */
export type NewAuthorityReason = MaterialFault | 'missing' | 'expired';

/** The next step for the certificate authority. */
export type AuthorityStep =
  /** @see NewAuthorityReason. `keepsFormer`: clients continue to trust the existing certificate. */
  | { readonly kind: 'create'; readonly reason: NewAuthorityReason; readonly keepsFormer: boolean }
  | { readonly kind: 'add-successor' }
  | { readonly kind: 'promote-successor' }
  /** The published certificates are wrong. */
  | { readonly kind: 'republish' }
  /** Nothing to write. `clock-behind`: by this clock, the authority is not valid yet. */
  | { readonly kind: 'keep'; readonly problem?: 'clock-behind'; readonly checkAtMs: number };

/** The next step; after it is written, planning again gives the step after it, and `keep` in the end. */
export function planAuthority(observed: ObservedAuthority, nowMs: number, times: CertificateTimes): AuthorityStep {
  const { issuer, successor } = observed;
  const lost = reasonToReplace(issuer, nowMs);
  if (lost !== undefined) {
    // It is already published.
    if (successor.kind === 'readable' && isValid(successor.facts, nowMs)) return { kind: 'promote-successor' };
    return { kind: 'create', reason: lost, keepsFormer: lost.startsWith('key') };
  }
  const { facts } = issuer as Extract<ObservedPair, { readonly kind: 'readable' }>;
  // Replicas whose clocks differ would replace each other's authorities forever.
  if (facts.notBeforeMs > nowMs) return { kind: 'keep', problem: 'clock-behind', checkAtMs: facts.notBeforeMs };
  return planSuccession(observed, facts, { nowMs, times });
}

function reasonToReplace(issuer: ObservedPair, nowMs: number): NewAuthorityReason | undefined {
  if (issuer.kind === 'missing') return 'missing';
  if (issuer.kind === 'faulty') return issuer.fault;
  return issuer.facts.notAfterMs <= nowMs ? 'expired' : undefined;
}

interface Moment {
  readonly nowMs: number;
  readonly times: CertificateTimes;
}

function planSuccession(observed: ObservedAuthority, issuer: CertificateFacts, { nowMs, times }: Moment): AuthorityStep {
  const { successor } = observed;
  const renewAtMs = renewalTimeMs(issuer);
  if (successor.kind !== 'readable' || !isUsable(successor.facts, issuer, nowMs)) {
    if (successor.kind !== 'missing' || nowMs >= renewAtMs) return { kind: 'add-successor' };
    return publishedAsPlanned(observed, nowMs) ? { kind: 'keep', checkAtMs: renewAtMs } : { kind: 'republish' };
  }
  if (!publishedAsPlanned(observed, nowMs)) return { kind: 'republish' };
  const promoteAtMs = successor.facts.notBeforeMs + times.backdatedMs + times.publishedForMs;
  return nowMs >= promoteAtMs ? { kind: 'promote-successor' } : { kind: 'keep', checkAtMs: promoteAtMs };
}

function isUsable(successor: CertificateFacts, issuer: CertificateFacts, nowMs: number): boolean {
  return isValid(successor, nowMs) && successor.fingerprint !== issuer.fingerprint;
}

function isValid({ notBeforeMs, notAfterMs }: CertificateFacts, nowMs: number): boolean {
  return notAfterMs > nowMs && notBeforeMs <= nowMs;
}

function publishedAsPlanned(observed: ObservedAuthority, nowMs: number): boolean {
  return (
    observed.published?.join() === toPublish(observed, nowMs).join() &&
    retiredToKeep(observed.retired, nowMs).length === observed.retired.length
  );
}

/** Fingerprints of the authorities that clients should trust: current, next and former. */
export function toPublish({ issuer, successor, retired }: ObservedAuthority, nowMs: number): string[] {
  const pairs = [issuer, successor].flatMap((pair) => (pair.kind === 'readable' ? [pair.facts.fingerprint] : []));
  return [...pairs, ...retiredToKeep(retired, nowMs).map(({ fingerprint }) => fingerprint)];
}

/** The maximum number of former authorities that stay published: a hurried rotation may follow one that is not over. */
const MOST_RETIRED = 2;

/** The former authorities that stay published, newest first. */
export function retiredToKeep(retired: readonly CertificateFacts[], nowMs: number): readonly CertificateFacts[] {
  return retired.filter(({ notAfterMs, isAuthority }) => isAuthority && notAfterMs > nowMs).slice(0, MOST_RETIRED);
}
