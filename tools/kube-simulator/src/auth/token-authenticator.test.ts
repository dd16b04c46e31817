import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.js';
import { answerReview } from './access-review.js';

import { apiAudience, readToken } from './service-account-token.js';
import { TokenAuthenticator } from './token-authenticator.js';
import { answerTokenRequest } from './token-request.js';
import { adminUser, anonymousUser } from './user.js';

const signingKey = Buffer.from('key of the test');
const serviceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 's16', name: 'agent', uid: 'uid-1' } };

const startCluster = () => {
  const cluster = { nowSeconds: 1_800_000_000, uid: 'uid-1' as string | undefined };
  const authenticator = new TokenAuthenticator({
    signingKey,
    nowSeconds: () => cluster.nowSeconds,
    serviceAccountUid: (namespace, name) => (namespace === 's16' && name === 'agent' ? cluster.uid : undefined),
  });
  authenticator.addToken('admin-token', adminUser);
  const request = (spec: object) =>
    answerTokenRequest({ spec } as never, { serviceAccount, signingKey, nowSeconds: cluster.nowSeconds });
  return { cluster, authenticator, request };
};

describe('a bearer token', () => {
  it.each([
    ['none', undefined, anonymousUser],
    ['one that was given out', 'Bearer admin-token', adminUser],
    ['an unknown one', 'Bearer nonsense', undefined],
    ['a forged one', 'Bearer a.b.c', undefined],
    ['an empty one', 'Bearer ', undefined],
    ['another scheme', 'Basic eA==', anonymousUser],
  ])('%s', (_name, header, user) => {
    const { authenticator } = startCluster();
    if (user === undefined) expect(() => authenticator.authenticate({ authorization: header })).toThrow('Unauthorized');
    else expect(authenticator.authenticate({ authorization: header })).toEqual(user);
  });

  it('for a ServiceAccount stands for it until it expires or the account is deleted', () => {
    const { cluster, authenticator, request } = startCluster();
    const answer = request({ expirationSeconds: 600 });
    expect(answer).toMatchObject({
      kind: 'TokenRequest',
      metadata: { name: 'agent', namespace: 's16' },
      spec: { audiences: [apiAudience], expirationSeconds: 600, boundObjectRef: null },
      status: { expirationTimestamp: '2027-01-15T08:10:00Z' },
    });
    const header = { authorization: `Bearer ${answer.status.token}` };
    expect(authenticator.authenticate(header)).toEqual({
      username: 'system:serviceaccount:s16:agent',
      uid: 'uid-1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:s16', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${readToken(answer.status.token, signingKey)?.id}`] },
    });
    cluster.uid = 'uid-2';
    expect(() => authenticator.authenticate(header), 'an account of the same name').toThrow('Unauthorized');
    cluster.uid = 'uid-1';
    cluster.nowSeconds += 600;
    expect(() => authenticator.authenticate(header), 'expired').toThrow('Unauthorized');
  });

  it('for another audience is not for this server', () => {
    const { authenticator, request } = startCluster();
    const { token } = request({ audiences: ['other'] }).status;
    expect(() => authenticator.authenticate({ authorization: `Bearer ${token}` })).toThrow('Unauthorized');
    expect(authenticator.reviewToken(token, ['other'])?.audiences).toEqual(['other']);
  });

  it('lives ten minutes at least', () => {
    const { request } = startCluster();
    expect(() => request({ expirationSeconds: 60 })).toThrow(ApiError);
    expect(() => request({ expirationSeconds: 60 })).toThrow(
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    );
  });
});

describe('a review', () => {
  const { authenticator } = startCluster();
  const policy = { clusterRoleBindings: () => [], roleBindings: () => [], clusterRole: () => undefined, role: () => undefined };
  const context = { user: adminUser, policy, authenticator, now: new Date('2026-01-01T00:00:00.123Z') };

  it.each([
    [
      'TokenReview',
      { spec: { token: 'bad' } },
      {
        kind: 'TokenReview',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: {},
        spec: { token: 'bad' },
        status: { user: {}, error: 'invalid bearer token' },
      },
    ],
    [
      'SelfSubjectReview',
      {},
      {
        kind: 'SelfSubjectReview',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
        status: { userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] } },
      },
    ],
    [
      'SelfSubjectAccessReview',
      { spec: { resourceAttributes: { group: '*', resource: '*', verb: '*' } } },
      {
        kind: 'SelfSubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        metadata: {},
        spec: { resourceAttributes: { verb: '*', group: '*', resource: '*' } },
        status: { allowed: true },
      },
    ],
    [
      'SubjectAccessReview',
      { spec: { user: 'bob', nonResourceAttributes: { path: '/metrics', verb: 'get' } } },
      {
        kind: 'SubjectAccessReview',
        apiVersion: 'authorization.k8s.io/v1',
        metadata: {},
        spec: { user: 'bob', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
        status: { allowed: false },
      },
    ],
  ] as const)('%s', (kind, request, answer) => {
    expect(JSON.stringify(answerReview(kind, request, context))).toBe(JSON.stringify(answer));
  });
});
