import { ApiError } from '../api-error.js';
import type { Authenticator, Credentials } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { authorize } from './authorize.js';
import { readImpersonation } from './impersonation.js';
import type { Policy } from './policy.js';
import { forbidden } from './refusal.js';
import type { TokenAuthenticator } from './token-authenticator.js';

/** Identifies the sender of a request by its token, and the user to act as by the headers of impersonation. */
export class RequestAuthenticator implements Authenticator {
  readonly #tokens: TokenAuthenticator;
  readonly #policy: Policy;

  constructor(tokens: TokenAuthenticator, policy: Policy) {
    this.#tokens = tokens;
    this.#policy = policy;
  }

  authenticate(credentials: Credentials): User {
    const user = this.#tokens.authenticate(credentials);
    const impersonation = readImpersonation(credentials.headers ?? {}, user);
    if (impersonation === undefined) return user;
    const refused = impersonation.needs.find((need) => !authorize(need, this.#policy).allowed);
    if (refused !== undefined) throw new ApiError(forbidden(refused));
    return impersonation.user;
  }
}
