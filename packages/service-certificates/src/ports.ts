/** The ports of the keeper of certificates. */
import type { CertificateFacts, MaterialFault } from './plan/certificate-facts.js';

/** A Secret: text by key. */
export interface StoredSecret {
  /** Undefined if it does not exist. */
  readonly resourceVersion: string | undefined;
  readonly data: Readonly<Record<string, string>>;
}

/** Reads and writes the Secrets of certificates. */
export interface SecretStore {
  /** A Secret that does not exist has no version and no data. */
  readonly read: (name: string) => Promise<StoredSecret>;
  /**
   * Writes exactly this data if the Secret still equals `before`. `conflict` if it does not, because another replica was first. @throws if the API
   * server refuses or does not answer.
   */
  readonly write: (name: string, before: StoredSecret, data: Readonly<Record<string, string>>) => Promise<'written' | 'conflict'>;
}

/** PEM texts. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** Reads certificates. Never throws: unreadable input is undefined, or a fault. */
export interface CertificateReader {
  readonly read: (certificate: string) => CertificateFacts | undefined;
  /** What is wrong with a certificate and its key; undefined if they match. */
  readonly findFault: (pair: Pair) => MaterialFault | undefined;
  readonly isIssuedBy: (certificate: string, authority: string) => boolean;
}

/** Validity in milliseconds since 1970. */
export interface Validity {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Makes keys and certificates. */
export interface CertificateIssuer {
  readonly createAuthority: (name: string, validity: Validity) => Promise<Pair>;
  /** For servers and clients of TLS. */
  readonly issue: (authority: Pair, names: readonly string[], validity: Validity) => Promise<Pair>;
}
