import type { ApiObject } from '../api-object.js';
import { builtInType } from '../resources/built-in-type.js';
import { serviceAccount } from '../resources/core/config-map.js';
import type { ConnectRequest, ResourceType } from '../resources/resource-type.js';
import type { ReviewKind } from './access-review.js';

/** Answers requests about users, rights and tokens. */
export interface CredentialAnswers {
  review(kind: ReviewKind, request: ConnectRequest): ApiObject;
  issueToken(request: ConnectRequest): ApiObject;
}

const reviewKinds: readonly (readonly [group: string, kind: ReviewKind, namespaced: boolean])[] = [
  ['authentication.k8s.io', 'SelfSubjectReview', false],
  ['authentication.k8s.io', 'TokenReview', false],
  ['authorization.k8s.io', 'LocalSubjectAccessReview', true],
  ['authorization.k8s.io', 'SelfSubjectAccessReview', false],
  ['authorization.k8s.io', 'SelfSubjectRulesReview', false],
  ['authorization.k8s.io', 'SubjectAccessReview', false],
];

/** The kinds of reviews. `answers` is called at every request, because it is created after the kinds. */
export const reviewTypes = (answers: () => CredentialAnswers): readonly ResourceType[] =>
  reviewKinds.map(([group, kind, namespaced]) =>
    builtInType({
      group,
      version: 'v1',
      kind,
      plural: `${kind.toLowerCase()}s`,
      namespaced,
      verbs: ['create'],
      fields: {},
      connect: (request) => answers().review(kind, request),
    }),
  );

/** ServiceAccounts with the subresource that issues their tokens. */
export const serviceAccountWithTokens = (answers: () => CredentialAnswers): ResourceType => ({
  ...serviceAccount,
  subresources: [
    {
      name: 'token',
      verbs: ['create'],
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
      connect: (request) => answers().issueToken(request),
    },
  ],
});
