import type { RedfishErrorCode } from '../error/redfish-error.js';

const CODES: ReadonlyMap<string, RedfishErrorCode> = new Map<string, RedfishErrorCode>([
  ...each('unreachable', ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ETIMEDOUT']),
  ...each('connection-lost', ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE', 'HPE_INVALID_EOF_STATE']),
  ...each('too-large', ['HPE_HEADER_OVERFLOW', 'HPE_CHUNK_EXTENSIONS_OVERFLOW']),
  ...each('tls-failed', [
    'EPROTO',
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'CERT_UNTRUSTED',
    'CERT_REVOKED',
    'CERT_REJECTED',
    'CERT_SIGNATURE_FAILURE',
    'CERT_CHAIN_TOO_LONG',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'HOSTNAME_MISMATCH',
  ]),
]);

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'the name is unknown'],
  ['EAI_AGAIN', 'no name server answers'],
  ['EHOSTUNREACH', 'there is no route to it, or it is switched off'],
  ['ENETUNREACH', 'there is no route to its network'],
  ['ETIMEDOUT', 'it does not answer'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed: name it as authority'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'the authority of its certificate is not trusted: name that authority'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'the authority of its certificate is not trusted: name that authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'the authority of its certificate is not trusted: name that authority'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet: compare the clocks'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate has another name'],
]);

export interface ConnectionFailure {
  readonly code: RedfishErrorCode;
  /** A failure for a message: a few words, and the code of Node or OpenSSL. */
  readonly text: string;
}

/** The meaning of an error of Node's HTTP, TLS or socket. */
export function connectionFailure(error: unknown): ConnectionFailure {
  const code = codeOf(error);
  const remedy = REMEDIES.get(code);
  return { code: classify(code), text: remedy === undefined ? code : `${remedy} (${code})` };
}

function classify(code: string): RedfishErrorCode {
  const known = CODES.get(code);
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return 'not-redfish';
  return /^(ERR_TLS|ERR_SSL|ERR_OSSL|UNABLE_TO|CRL_|ERROR_IN_C)/.test(code) ? 'tls-failed' : 'unreachable';
}

/** If several addresses of one name were tried, each has its own error. */
function codeOf(error: unknown): string {
  const errors: unknown = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  const code = typeof errors === 'object' && errors !== null && 'code' in errors ? errors.code : undefined;
  return typeof code === 'string' ? code : 'connection failed';
}

function each(code: RedfishErrorCode, names: readonly string[]): [string, RedfishErrorCode][] {
  return names.map((name) => [name, code]);
}
