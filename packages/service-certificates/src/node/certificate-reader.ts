import { createPrivateKey, X509Certificate } from 'node:crypto';
import { splitCertificates } from '../pem.js';
import type { CertificateFacts, MaterialFault } from '../plan/certificate-facts.js';
import type { CertificateReader, Pair } from '../ports.js';

/** Reads certificates with the TLS library of Node, which also serves them. */
export const certificateReader: CertificateReader = { read, findFault, isIssuedBy };

function read(text: string): CertificateFacts | undefined {
  const certificate = parse(text);
  if (certificate === undefined) return undefined;
  const { fingerprint256: fingerprint, validFromDate, validToDate, ca: isAuthority, subjectAltName = '' } = certificate;
  const names = subjectAltName.split(', ').flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? []);
  return {
    fingerprint,
    notBeforeMs: validFromDate.getTime(),
    notAfterMs: validToDate.getTime(),
    isAuthority,
    names: names.toSorted(),
  };
}

function findFault({ certificate: text, key: keyText }: Pair): MaterialFault | undefined {
  if (text.trim() === '') return 'certificate-missing';
  if (keyText.trim() === '') return 'key-missing';
  const certificate = parse(text);
  if (certificate === undefined) return 'certificate-unreadable';
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyText)) ? undefined : 'key-of-another-certificate';
  } catch {
    return 'key-unreadable';
  }
}

function isIssuedBy(text: string, authorityText: string): boolean {
  const [certificate, authority] = [parse(text), parse(authorityText)];
  if (certificate === undefined || authority === undefined) return false;
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** The first certificate of a text. */
function parse(text: string): X509Certificate | undefined {
  const [first] = splitCertificates(text);
  if (first === undefined) return undefined;
  try {
    return new X509Certificate(first);
  } catch {
    return undefined;
  }
}
