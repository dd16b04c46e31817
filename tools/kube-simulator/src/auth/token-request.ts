import { ApiError } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { apiAudience, mintToken } from './service-account-token.js';

const minimumLifetimeSeconds = 600;

export interface TokenRequestContext {
  readonly serviceAccount: ApiObject;
  readonly signingKey: Buffer;
  readonly nowSeconds: number;
}

/** The answer to a POST on `serviceaccounts/token`: the request with a token for that ServiceAccount. */
export const answerTokenRequest = (request: JsonObject, { serviceAccount, signingKey, nowSeconds }: TokenRequestContext) => {
  const spec = (request['spec'] ?? {}) as {
    audiences?: readonly string[];
    expirationSeconds?: number;
    boundObjectRef?: JsonObject;
  };
  const lifetimeSeconds = spec.expirationSeconds ?? 3600;
  if (lifetimeSeconds < minimumLifetimeSeconds) throw tooShort(lifetimeSeconds);
  const audiences = spec.audiences?.length ? spec.audiences : [apiAudience];
  const { name = '', namespace = '', uid = '' } = serviceAccount.metadata;
  const token = mintToken(
    { serviceAccount: { namespace, name, uid }, audiences, issuedAtSeconds: nowSeconds, lifetimeSeconds },
    signingKey,
  );
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid, creationTimestamp: toTime(nowSeconds) },
    spec: { audiences, expirationSeconds: lifetimeSeconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: toTime(nowSeconds + lifetimeSeconds) },
  };
};

const toTime = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;

const tooShort = (lifetimeSeconds: number): ApiError => {
  const cause = {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${lifetimeSeconds}: may not specify a duration less than 10 minutes`,
    field: 'spec.expirationSeconds',
  };
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `TokenRequest.authentication.k8s.io "" is invalid: ${cause.field}: ${cause.message}`,
    details: { group: 'authentication.k8s.io', kind: 'TokenRequest', causes: [cause] },
  });
};
