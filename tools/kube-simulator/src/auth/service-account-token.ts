import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

/** Audience of tokens that are meant for the API server itself, and their issuer. */
export const apiAudience = 'https://kubernetes.default.svc.cluster.local';

export interface ServiceAccountReference {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The content of a valid token. */
export interface TokenClaims {
  readonly serviceAccount: ServiceAccountReference;
  readonly audiences: readonly string[];
  /** Unique per token; part of the user's `extra`. */
  readonly id: string;
  readonly expiresAtSeconds: number;
}

export interface TokenOrder {
  readonly serviceAccount: ServiceAccountReference;
  readonly audiences: readonly string[];
  readonly issuedAtSeconds: number;
  readonly lifetimeSeconds: number;
}

/** A JWT with the claims of a bound ServiceAccount token, signed with the key (HS256, where a real cluster uses RS256). */
export const mintToken = (order: TokenOrder, key: Buffer): string => {
  const { namespace, name, uid } = order.serviceAccount;
  const head = encodePart({ alg: 'HS256', typ: 'JWT' });
  const body = encodePart({
    aud: order.audiences,
    exp: order.issuedAtSeconds + order.lifetimeSeconds,
    iat: order.issuedAtSeconds,
    iss: apiAudience,
    jti: randomUUID(),
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
    nbf: order.issuedAtSeconds,
    sub: `system:serviceaccount:${namespace}:${name}`,
  });
  return `${head}.${body}.${sign(`${head}.${body}`, key)}`;
};

/** The claims of a token that the key signed; undefined for anything else. Neither time nor audience is looked at. */
export const readToken = (token: string, key: Buffer): TokenClaims | undefined => {
  const [head, body, signature, ...rest] = token.split('.');
  if (head === undefined || body === undefined || signature === undefined || rest.length > 0) return undefined;
  if (!equal(signature, sign(`${head}.${body}`, key))) return undefined;
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
    aud: string[];
    exp: number;
    jti: string;
    'kubernetes.io': { namespace: string; serviceaccount: { name: string; uid: string } };
  };
  const { namespace, serviceaccount } = claims['kubernetes.io'];
  return {
    serviceAccount: { namespace, ...serviceaccount },
    audiences: claims.aud,
    id: claims.jti,
    expiresAtSeconds: claims.exp,
  };
};

const encodePart = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const sign = (text: string, key: Buffer): string => createHmac('sha256', key).update(text).digest('base64url');

const equal = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
