import { badRequest } from '../failures.js';

interface ContinueToken {
  /** The state that the list shows; -1: the current one. */
  readonly resourceVersion: number;
  /** The last key that was shown. */
  readonly after: string;
}

/** The text that a client sends to get the next page. */
export function formatContinueToken({ resourceVersion, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: resourceVersion, start: after })).toString('base64url');
}

/** Throws ApiError 400 if this server did not write the text. */
export function parseContinueToken(text: string): ContinueToken {
  const bytes = Buffer.from(text, 'base64url');
  try {
    const { rv, start } = JSON.parse(bytes.toString('utf8')) as { rv?: unknown; start?: unknown };
    if (typeof rv === 'number' && typeof start === 'string') return { resourceVersion: rv, after: start };
  } catch {
    // Answered below.
  }
  const first = bytes.subarray(0, 1).toString('latin1');
  throw badRequest(
    `invalid continue token: continue key is not valid: invalid character '${first}' looking for beginning of value`,
  );
}
