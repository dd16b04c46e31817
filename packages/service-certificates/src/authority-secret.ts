/** The authority in its Secret. */
import { joinCertificates, splitCertificates } from './pem.js';
import type { CertificateFacts, ObservedPair } from './plan/certificate-facts.js';
import { type ObservedAuthority, retiredToKeep } from './plan/plan-authority.js';
import type { CertificateReader, Pair } from './ports.js';

type Data = Readonly<Record<string, string>>;

/** The content: the issuing authority, its successor, and the certificates of former ones. */
export interface AuthorityMaterial {
  readonly issuer: Pair;
  readonly successor: Pair | undefined;
  readonly retired: readonly string[];
}

/** Clients trust `ca.crt`, the only key that they need. */
export function toAuthorityData({ issuer, successor, retired }: AuthorityMaterial): Data {
  return {
    'ca.crt': publishedBy({ issuer, successor, retired }),
    'issuer.crt': issuer.certificate,
    'issuer.key': issuer.key,
    ...(successor && { 'successor.crt': successor.certificate, 'successor.key': successor.key }),
    ...(retired.length > 0 && { 'retired.crt': joinCertificates(retired) }),
  };
}

export function publishedBy({ issuer, successor, retired }: AuthorityMaterial): string {
  return joinCertificates([issuer.certificate, ...(successor ? [successor.certificate] : []), ...retired]);
}

/** The content of the data, readable or not; `planAuthority` decides which parts are usable. */
export function toAuthorityMaterial(data: Data): AuthorityMaterial {
  const pairOf = (name: string): Pair => ({ certificate: data[`${name}.crt`] ?? '', key: data[`${name}.key`] ?? '' });
  const successor = pairOf('successor');
  return {
    issuer: pairOf('issuer'),
    successor: successor.certificate === '' && successor.key === '' ? undefined : successor,
    retired: splitCertificates(data['retired.crt'] ?? ''),
  };
}

export function observeAuthority(data: Data, reader: CertificateReader): ObservedAuthority {
  const { issuer, successor, retired } = toAuthorityMaterial(data);
  const published = splitCertificates(data['ca.crt'] ?? '').map((certificate) => reader.read(certificate)?.fingerprint);
  return {
    issuer: observePair(issuer, reader, true),
    successor: observePair(successor, reader, true),
    retired: retired.flatMap((certificate) => reader.read(certificate) ?? []),
    published: published.every((one) => one !== undefined) ? published : undefined,
  };
}

export function observePair(pair: Pair | undefined, reader: CertificateReader, isAuthority = false): ObservedPair {
  if (pair === undefined || (pair.certificate === '' && pair.key === '')) return { kind: 'missing' };
  const fault = reader.findFault(pair);
  const facts = reader.read(pair.certificate);
  if (fault !== undefined) return { kind: 'faulty', fault };
  if (facts === undefined) return { kind: 'faulty', fault: 'certificate-unreadable' };
  return isAuthority && !facts.isAuthority ? { kind: 'faulty', fault: 'not-an-authority' } : { kind: 'readable', facts };
}

/** The certificates of former authorities that stay published. */
export function keepRetired(certificates: readonly string[], reader: CertificateReader, nowMs: number): string[] {
  const byFingerprint = new Map<string, { readonly text: string; readonly facts: CertificateFacts }>();
  for (const text of certificates.flatMap(splitCertificates)) {
    const facts = reader.read(text);
    if (facts !== undefined) byFingerprint.set(facts.fingerprint, { text, facts });
  }
  const kept = retiredToKeep(
    [...byFingerprint.values()].map(({ facts }) => facts),
    nowMs,
  );
  return kept.flatMap(({ fingerprint }) => byFingerprint.get(fingerprint)?.text ?? []);
}
