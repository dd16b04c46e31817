import { setTimeout as delay } from 'node:timers/promises';
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';

const TOO_MANY_REQUESTS = 429;

/** Why a request failed that may succeed when it is repeated, for people; undefined if it would fail again. */
export function passingTroubleOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!(error instanceof ApiRequestError)) return passingTroubleOf(error.cause);
  const { status = 500 } = error;
  return status >= 500 || status === TOO_MANY_REQUESTS ? error.message : undefined;
}

const RETRIES_MS = [250, 500, 1_000];

/** Reads, and reads again up to three times after a request that the API server could not answer now. @throws what the last reading failed with. */
export async function readPatiently<Value>(
  read: () => Promise<Value>,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Value> {
  for (const ms of RETRIES_MS) {
    try {
      return await read();
    } catch (error) {
      if (passingTroubleOf(error) === undefined) throw error;
      await wait(ms);
    }
  }
  return await read();
}
