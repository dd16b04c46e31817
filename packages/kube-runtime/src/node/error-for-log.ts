/** How the log shows an error: a sentence if networks or servers caused it, the error with its stack if it is a bug. */
import { messageOf } from './message-of.js';

/** Codes of the system and of name resolution (`ECONNRESET`, `EAI_AGAIN`), and of malformed HTTP. */
const NETWORK_CODE = /^(?:E(?:AI_)?[A-Z0-9]+|HPE_[A-Z_]+)$/;
/** Codes of OpenSSL and of Node's TLS. */
const TLS_CODE = /^(?:ERR_(?:SSL|TLS)_[A-Z0-9_]+|(?:CERT|CRL|UNABLE|DEPTH|SELF|INVALID|PATH|HOSTNAME|AKID|OCSP)_[A-Z0-9_]+)$/;
const OWN_CODES: ReadonlySet<string> = new Set(['ERR_API_REQUEST', 'ERR_NO_CLUSTER']);

/** A text if nothing is wrong with this program; otherwise the error itself, whose stack shows where the bug is. */
export function errorForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return isOrdinary(error) ? messageOf(error) : error;
}

function isOrdinary(error: Error): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every((one) => one instanceof Error && isOrdinary(one));
  }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return true;
  const code = 'code' in error ? String(error.code) : '';
  // A bug in our own request code is wrapped too. A SyntaxError is an answer that is not JSON.
  const { cause } = error;
  if (OWN_CODES.has(code)) return !(cause instanceof Error) || cause instanceof SyntaxError || isOrdinary(cause);
  return NETWORK_CODE.test(code) || TLS_CODE.test(code);
}
