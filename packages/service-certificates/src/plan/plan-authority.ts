/**
 * What is to be done about the authority, as a value. The order of a rotation is what keeps every request working: a successor is made and
 * published, then it issues, and the authority before it stays published until it expires.
 */
import type { CertificateFacts, MaterialFault, ObservedPair } from './certificate-facts.js';
import { type CertificateTimes, renewalTimeMs } from './certificate-times.js';

export interface ObservedAuthority {
  /** Issues certificates. */
  readonly issuer: ObservedPair;
  /** Is published, and will issue. */
  readonly successor: ObservedPair;
  /** Authorities that issued before, and are still published. */
  readonly retired: readonly CertificateFacts[];
  /** Fingerprints of what is published, in order; undefined: it cannot be read. */
  readonly published: readonly string[] | undefined;
}

/** Why a new authority takes the place of the one before without being published first. */
export type NewAuthorityReason = MaterialFault | 'missing' | 'expired';

export type AuthorityStep =
  /** @see NewAuthorityReason. `keepsFormer`: clients go on trusting the certificate that is there. */
  | { readonly kind: 'create'; readonly reason: NewAuthorityReason; readonly keepsFormer: boolean }
  | { readonly kind: 'add-successor' }
  | { readonly kind: 'promote-successor' }
  /** What is published is not what it should be. */
  | { readonly kind: 'republish' }
  /** Nothing to write. `clock-behind`: the authority is not valid yet by this clock. */
  | { readonly kind: 'keep'; readonly problem?: 'clock-behind'; readonly checkAtMs: number };

/** The next step; after it is written, planning again gives the step after it, and `keep` in the end. */
export function planAuthority(observed: ObservedAuthority, nowMs: number, times: CertificateTimes): AuthorityStep {
  const { issuer, successor } = observed;
  const lost = reasonToReplace(issuer, nowMs);
  if (lost !== undefined) {
    // It is published already.
    if (successor.kind === 'readable' && isValid(successor.facts, nowMs)) return { kind: 'promote-successor' };
    return { kind: 'create', reason: lost, keepsFormer: lost.startsWith('key') };
  }
  const { facts } = issuer as Extract<ObservedPair, { readonly kind: 'readable' }>;
  // Replicas whose clocks differ would replace each other's authorities for ever.
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

/** Fingerprints of what clients are to trust: who issues, who will issue, who issued. */
export function toPublish({ issuer, successor, retired }: ObservedAuthority, nowMs: number): string[] {
  const pairs = [issuer, successor].flatMap((pair) => (pair.kind === 'readable' ? [pair.facts.fingerprint] : []));
  return [...pairs, ...retiredToKeep(retired, nowMs).map(({ fingerprint }) => fingerprint)];
}

/** The most that stay published after they issued: a rotation in a hurry follows one that is not over. */
const MOST_RETIRED = 2;

/** What stays published of the authorities that issued before, newest first. */
export function retiredToKeep(retired: readonly CertificateFacts[], nowMs: number): readonly CertificateFacts[] {
  return retired.filter(({ notAfterMs, isAuthority }) => isAuthority && notAfterMs > nowMs).slice(0, MOST_RETIRED);
}
