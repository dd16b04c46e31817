const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** A larger bundle does not come from this program. */
const MOST_CERTIFICATES = 16;

/** The certificates of a PEM text, each with a line break at its end. */
export function splitCertificates(bundle: string): string[] {
  return [...bundle.matchAll(CERTIFICATE)].slice(0, MOST_CERTIFICATES).map(([text]) => `${text}\n`);
}

/** One PEM text of several. */
export function joinCertificates(certificates: readonly string[]): string {
  return certificates.flatMap(splitCertificates).join('');
}
