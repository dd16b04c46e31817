import { ApiRequestError } from '@vmdhcp/kube-runtime/node';

const TOO_MANY_REQUESTS = 429;

/** Why a request failed that may succeed when it is repeated, for people; undefined if it would fail again. */
export function passingTroubleOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!(error instanceof ApiRequestError)) return passingTroubleOf(error.cause);
  const { status = 500 } = error;
  return status >= 500 || status === TOO_MANY_REQUESTS ? error.message : undefined;
}
