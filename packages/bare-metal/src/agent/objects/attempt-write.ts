import type { WriteResult } from '@vmdhcp/kube-runtime';

/** The outcome of a write. */
export type WriteOutcome<Kind> =
  | { readonly ok: true; readonly object: Kind }
  /** `failed`: an error after which the outcome is not known. */
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** Returns the outcome of a write as a value: never rejects. */
export async function attemptWrite<Kind>(write: () => Promise<WriteResult<Kind>>): Promise<WriteOutcome<Kind>> {
  try {
    return await write();
  } catch (error) {
    return { ok: false, reason: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
