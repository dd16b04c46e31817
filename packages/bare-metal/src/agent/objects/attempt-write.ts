import type { WriteResult } from '@vmdhcp/kube-runtime';

/** What became of a write. */
export type WriteOutcome<Kind> =
  | { readonly ok: true; readonly object: Kind }
  /** `failed`: an error that leaves open whether it happened. */
  | { readonly ok: false; readonly reason: string; readonly message: string };

/** The outcome of a write as a value: never rejects. */
export async function attemptWrite<Kind>(write: () => Promise<WriteResult<Kind>>): Promise<WriteOutcome<Kind>> {
  try {
    return await write();
  } catch (error) {
    return { ok: false, reason: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
