/** The facts about a certificate that plans use. Times are milliseconds since 1970. */
export interface CertificateFacts {
  /** SHA-256 of the certificate: the same text means the same certificate. */
  readonly fingerprint: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** It may sign other certificates. */
  readonly isAuthority: boolean;
  /** DNS names and IP addresses, sorted. */
  readonly names: readonly string[];
}

/** A fault of a certificate and its key in a Secret. */
export type MaterialFault =
  | 'certificate-missing'
  | 'certificate-unreadable'
  | 'key-missing'
  | 'key-unreadable'
  | 'key-of-another-certificate'
  | 'not-an-authority';

/** A certificate with its key, as found. */
export type ObservedPair =
  | { readonly kind: 'missing' }
  | { readonly kind: 'faulty'; readonly fault: MaterialFault }
  | { readonly kind: 'readable'; readonly facts: CertificateFacts };
