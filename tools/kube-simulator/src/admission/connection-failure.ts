/** Why a server could not be reached, in the words of a real API server. */

import type { Endpoint } from './webhook-address.js';

/** Go's message for the same failure; `<address>` stands for host and port. */
const knownErrors: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'dial tcp <address>: connect: connection refused'],
  ['ECONNRESET', 'EOF'],
  ['ENOTFOUND', 'dial tcp: lookup <host>: no such host'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  ['CERT_SIGNATURE_FAILURE', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
  ['CERT_HAS_EXPIRED', 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'],
]);

/** The text for the error of a request that got no answer. */
export const describeConnectionFailure = (error: unknown, { host, port }: Endpoint): string => {
  const { name, code = '', message } = error as NodeJS.ErrnoException;
  if (name === 'AbortError' || name === 'TimeoutError') return 'context deadline exceeded';
  const known = knownErrors.get(code)?.replace('<address>', `${host}:${port}`).replace('<host>', host);
  return known ?? (code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? `tls: failed to verify certificate: x509: ${message}` : message);
};
