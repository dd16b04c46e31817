import { ApiError } from '../api-error.js';
import type { Authenticator, Credentials } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { unauthorized } from './refusal.js';
import { apiAudience, readToken, type TokenClaims } from './service-account-token.js';
import { anonymousUser, serviceAccountUser } from './user.js';

export interface AuthenticatorOptions {
  readonly signingKey: Buffer;
  /** The uid of an existing ServiceAccount. A token of a deleted ServiceAccount, even of the same name, is not valid. */
  readonly serviceAccountUid: (namespace: string, name: string) => string | undefined;
  readonly nowSeconds: () => number;
}

/** A token that was accepted. */
export interface Authenticated {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** Identifies the sender of a request by its bearer token. */
export class TokenAuthenticator implements Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #users = new Map<string, User>();
  /** A cache of tokens with a valid signature: a process sends the same one with each request. */
  readonly #read = new Map<string, TokenClaims>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** From now on the token stands for the user. */
  addToken(token: string, user: User): void {
    this.#users.set(token, user);
  }

  authenticate({ authorization }: Credentials): User {
    if (authorization === undefined) return anonymousUser;
    const token = /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
    // This server does not read other schemes: they count as no credential.
    if (token === undefined && !/^bearer/i.test(authorization)) return anonymousUser;
    const accepted = token === undefined ? undefined : this.reviewToken(token, [apiAudience]);
    if (accepted === undefined) throw new ApiError(unauthorized);
    return accepted.user;
  }

  /** Who a token stands for, and for which of the wanted audiences. */
  reviewToken(token: string, wantedAudiences: readonly string[]): Authenticated | undefined {
    const user = this.#users.get(token);
    if (user !== undefined) return { user, audiences: wantedAudiences };
    const claims = this.#claimsOf(token);
    if (claims === undefined || claims.expiresAtSeconds <= this.#options.nowSeconds()) return undefined;
    const { namespace, name, uid } = claims.serviceAccount;
    const audiences = claims.audiences.filter((audience) => wantedAudiences.includes(audience));
    if (audiences.length === 0 || this.#options.serviceAccountUid(namespace, name) !== uid) return undefined;
    const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.id}`] };
    return { user: { ...serviceAccountUser(namespace, name), uid, extra }, audiences };
  }
  #claimsOf(token: string): TokenClaims | undefined {
    const known = this.#read.get(token);
    if (known !== undefined) return known;
    const claims = readToken(token, this.#options.signingKey);
    if (claims !== undefined) this.#read.set(token, claims);
    return claims;
  }
}
