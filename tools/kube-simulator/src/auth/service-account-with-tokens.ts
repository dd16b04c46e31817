import type { ApiObject } from '../api-object.js';
import { serviceAccount } from '../resources/core/config-map.js';
import type { ConnectRequest, ResourceType } from '../resources/resource-type.js';

/** Issues the token that a TokenRequest asks for. */
export type IssueToken = (request: ConnectRequest) => ApiObject;

/** ServiceAccounts with the subresource that gives out their tokens. */
export const serviceAccountWithTokens = (issueToken: IssueToken): ResourceType => ({
  ...serviceAccount,
  subresources: [
    {
      name: 'token',
      verbs: ['create'],
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      connect: issueToken,
    },
  ],
});
