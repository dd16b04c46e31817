import type { JsonObject } from '../api-object.js';
import type { RequestAttributes } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { authorize, type Decision, grantedRules } from './authorize.js';
import type { Policy } from './policy.js';
import { apiAudience } from './service-account-token.js';
import type { TokenAuthenticator } from './token-authenticator.js';
import { toUserInfo } from './user.js';

/** The kinds of reviews: created, answered, never stored. */
export type ReviewKind =
  | 'TokenReview'
  | 'SelfSubjectReview'
  | 'SelfSubjectAccessReview'
  | 'SubjectAccessReview'
  | 'LocalSubjectAccessReview'
  | 'SelfSubjectRulesReview';

export interface ReviewContext {
  /** Who asks. */
  readonly user: User;
  readonly policy: Policy;
  readonly authenticator: TokenAuthenticator;
  readonly now: Date;
}

interface AccessSpec extends JsonObject {
  readonly resourceAttributes?: JsonObject;
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string };
  readonly user?: string;
  readonly groups?: readonly string[];
}

/** The review with its answer. */
export const answerReview = (kind: ReviewKind, request: JsonObject, context: ReviewContext) => {
  const spec = (request['spec'] ?? {}) as JsonObject;
  switch (kind) {
    case 'TokenReview':
      return review('authentication.k8s.io', kind, { spec, status: tokenStatus(spec, context.authenticator) });
    case 'SelfSubjectReview': {
      const creationTimestamp = `${context.now.toISOString().slice(0, 19)}Z`;
      const status = { userInfo: toUserInfo(context.user) };
      return { ...review('authentication.k8s.io', kind, {}), metadata: { creationTimestamp }, status };
    }
    case 'SelfSubjectAccessReview':
      return accessReview(kind, spec as AccessSpec, context, context.user);
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview': {
      const { user, groups = [] } = spec as AccessSpec;
      return accessReview(kind, spec as AccessSpec, context, { username: user ?? '', groups });
    }
    case 'SelfSubjectRulesReview':
      return review('authorization.k8s.io', kind, { spec: {}, status: rulesStatus(spec, context) });
  }
};

const review = (group: string, kind: ReviewKind, content: JsonObject) => ({
  kind,
  apiVersion: `${group}/v1`,
  metadata: {},
  ...content,
});

const tokenStatus = (spec: JsonObject, authenticator: TokenAuthenticator): JsonObject => {
  const { token = '', audiences } = spec as { token?: string; audiences?: readonly string[] };
  const accepted = authenticator.reviewToken(token, audiences?.length ? audiences : [apiAudience]);
  return accepted === undefined
    ? { user: {}, error: 'invalid bearer token' }
    : { authenticated: true, user: toUserInfo(accepted.user), audiences: accepted.audiences };
};

// The subject comes as a parameter of its own because a review of oneself differs from one of another user in nothing else.
// oxlint-disable-next-line max-params
const accessReview = (kind: ReviewKind, spec: AccessSpec, { policy }: ReviewContext, user: User) => {
  const decision = authorize(askedFor(spec, user), policy);
  return review('authorization.k8s.io', kind, { spec: inFieldOrder(spec), status: toAccessStatus(decision) });
};

const toAccessStatus = (decision: Decision): JsonObject =>
  decision.allowed && decision.reason !== undefined ? { allowed: true, reason: decision.reason } : { allowed: decision.allowed };

const askedFor = (spec: AccessSpec, user: User): RequestAttributes => {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const text = (key: string) => (resourceAttributes?.[key] as string | undefined) ?? '';
  return {
    user,
    path: nonResourceAttributes?.path ?? '',
    isResourceRequest: nonResourceAttributes === undefined,
    verb: nonResourceAttributes?.verb ?? text('verb'),
    group: text('group'),
    version: text('version'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
  };
};

const attributeOrder = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];

const inFieldOrder = (spec: AccessSpec): JsonObject => {
  const { resourceAttributes, ...rest } = spec;
  if (resourceAttributes === undefined) return rest;
  const known = attributeOrder.filter((key) => resourceAttributes[key]).map((key) => [key, resourceAttributes[key]]);
  return { resourceAttributes: Object.fromEntries(known), ...rest };
};

const rulesStatus = (spec: JsonObject, { user, policy }: ReviewContext): JsonObject => {
  const namespace = (spec['namespace'] as string | undefined) ?? 'default';
  const rules = [...grantedRules(user, namespace, policy)].map(({ rule }) => rule);
  const resourceRules = rules.filter((rule) => rule.resources !== undefined);
  const nonResourceRules = rules.filter((rule) => rule.nonResourceURLs !== undefined);
  return { resourceRules, nonResourceRules, incomplete: false };
};
