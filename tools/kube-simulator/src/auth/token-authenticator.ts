import { ApiError } from '../api-error.js';
import type { Authenticator, User } from '../http/request-chain.js';
import { unauthorized } from './refusal.js';
import { apiAudience, readToken } from './service-account-token.js';
import { anonymousUser, serviceAccountUser } from './user.js';

export interface AuthenticatorOptions {
  readonly signingKey: Buffer;
  /** The uid of a ServiceAccount that exists; a token of a deleted one, or of its namesake, is worth nothing. */
  readonly serviceAccountUid: (namespace: string, name: string) => string | undefined;
  readonly nowSeconds: () => number;
}

/** Knows who sends a request by its bearer token. */
export class TokenAuthenticator implements Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #users = new Map<string, User>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** From now on the token stands for the user. */
  addToken(token: string, user: User): void {
    this.#users.set(token, user);
  }

  authenticate(authorization: string | undefined): User {
    if (authorization === undefined) return anonymousUser;
    const token = /^bearer\s+(\S+)$/i.exec(authorization)?.[1];
    // Another scheme is no credential that this server reads: as good as none.
    if (token === undefined && !/^bearer/i.test(authorization)) return anonymousUser;
    const accepted = token === undefined ? undefined : this.#userOf(token);
    if (accepted === undefined) throw new ApiError(unauthorized);
    return accepted;
  }

  #userOf(token: string): User | undefined {
    const user = this.#users.get(token);
    if (user !== undefined) return user;
    const claims = readToken(token, this.#options.signingKey);
    if (claims === undefined || claims.expiresAtSeconds <= this.#options.nowSeconds()) return undefined;
    const { namespace, name, uid } = claims.serviceAccount;
    if (!claims.audiences.includes(apiAudience) || this.#options.serviceAccountUid(namespace, name) !== uid) return undefined;
    const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.id}`] };
    return { ...serviceAccountUser(namespace, name), uid, extra };
  }
}
