import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';

let simulator: KubeSimulator;

beforeAll(async () => {
  simulator = await startKubeSimulator({
    tls: false,
    tokens: { limited: { username: 'limited', groups: ['system:authenticated'] } },
  });
});

afterAll(() => simulator.stop());

interface Sent {
  readonly method?: string;
  readonly token?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

const send = async (path: string, { method, token, body, headers }: Sent = {}) => {
  const response = await fetch(`${simulator.url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as { message?: string; status?: { token: string } } };
};

const admin = () => simulator.adminToken;

describe('a request', () => {
  it.each([
    [
      'without credentials',
      undefined,
      403,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ],
    ['with a bad token', 'bad', 401, 'Unauthorized'],
    [
      'of a user without rights',
      'limited',
      403,
      'configmaps is forbidden: User "limited" cannot list resource "configmaps" in API group "" in the namespace "default"',
    ],
  ])('%s', async (_name, token, status, message) => {
    const answer = await send('/api/v1/namespaces/default/configmaps', token === undefined ? {} : { token });
    expect(answer).toMatchObject({ status, body: { message } });
  });

  it.each([
    ['/version', undefined, 200],
    ['/api', undefined, 403],
    ['/api', 'limited', 200],
    ['/apis/apps/v1', 'limited', 200],
  ])('for %s with the token %s: %i', async (path, token, status) => {
    expect((await send(path, token === undefined ? {} : { token })).status).toBe(status);
  });

  it('with the token of a ServiceAccount has the rights that are bound to it, at once', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    await send('/api/v1/namespaces/default/serviceaccounts', { token: admin(), body: { metadata: { name: 'agent' } } });
    const issued = await send('/api/v1/namespaces/default/serviceaccounts/agent/token', { token: admin(), body: { spec: {} } });
    expect(issued.status).toBe(201);
    const token = issued.body.status?.token ?? '';
    const list = () => send('/api/v1/namespaces/default/configmaps', { token });
    expect((await list()).body.message).toContain('User "system:serviceaccount:default:agent" cannot list');
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    await send(`${rbac}/roles`, { token: admin(), body: { metadata: { name: 'ro' }, rules } });
    const subjects = [{ kind: 'ServiceAccount', name: 'agent', namespace: 'default' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ro' };
    await send(`${rbac}/rolebindings`, { token: admin(), body: { metadata: { name: 'ro' }, roleRef, subjects } });
    expect((await list()).status).toBe(200);
    const asked = { verb: 'list', group: '', resource: 'configmaps', subresource: '', namespace: 'default', name: '' };
    const user = 'system:serviceaccount:default:agent';
    expect(simulator.audit.requests.filter((request) => request.user === user)).toEqual([
      { user, ...asked, allowed: false },
      { user, ...asked, allowed: true },
    ]);
    const review = { spec: { resourceAttributes: { namespace: 'default', verb: 'list', resource: 'configmaps' } } };
    expect(await send('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { token, body: review })).toMatchObject({
      status: 201,
      body: {
        status: {
          allowed: true,
          reason: 'RBAC: allowed by RoleBinding "ro/default" of Role "ro" to ServiceAccount "agent/default"',
        },
      },
    });
    await send('/api/v1/namespaces/default/serviceaccounts/agent', { token: admin(), method: 'DELETE' });
    expect((await list()).status).toBe(401);
  });

  it('that lists or watches one object by its name needs the right to that object only', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get', 'list', 'watch'] }];
    await send(`${rbac}/roles`, { token: admin(), body: { metadata: { name: 'one-secret' }, rules } });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one-secret' };
    const subjects = [{ kind: 'User', name: 'limited' }];
    await send(`${rbac}/rolebindings`, { token: admin(), body: { metadata: { name: 'one-secret' }, roleRef, subjects } });
    const status = async (query: string) =>
      (
        await fetch(`${simulator.url}/api/v1/namespaces/default/secrets${query}`, {
          headers: { authorization: 'Bearer limited' },
        })
      ).status;
    expect(await status('?fieldSelector=metadata.name%3Done')).toBe(200);
    expect(await status('?fieldSelector=metadata.name%3D%3Done,type%3DOpaque')).toBe(200);
    expect(await status('?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Done')).toBe(200);
    expect(await status('')).toBe(403);
    expect(await status('?fieldSelector=metadata.name%3Dtwo')).toBe(403);
    expect(await status('?fieldSelector=metadata.name!%3Dtwo')).toBe(403);
    const refused = await send('/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dtwo', { token: 'limited' });
    expect(refused.body.message).toContain('secrets "two" is forbidden: User "limited" cannot list');
  });

  it('cannot grant rights that its author does not have', async () => {
    const cluster = '/apis/rbac.authorization.k8s.io/v1';
    const rbac = `${cluster}/namespaces/default`;
    const rules = [
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['create', 'patch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
    ];
    await send(`${cluster}/clusterroles`, { token: admin(), body: { metadata: { name: 'giver' }, rules } });
    const giver = {
      metadata: { name: 'giver' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'giver' },
      subjects: [{ kind: 'User', name: 'limited' }],
    };
    await send(`${cluster}/clusterrolebindings`, { token: admin(), body: giver });
    const give = (name: string, rule: object) =>
      send(`${rbac}/roles`, { token: 'limited', body: { metadata: { name }, rules: [rule] } });
    const granted = { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['one'], verbs: ['get'] };
    expect((await give('granted', granted)).status).toBe(201);
    expect(await give('more', { ...granted, verbs: ['get', 'delete'] })).toMatchObject({
      status: 403,
      body: {
        message:
          'roles.rbac.authorization.k8s.io "more" is forbidden: user "limited" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["one"], Verbs:["get", "delete"]}',
      },
    });
    const bind = (kind: string, name: string) =>
      send(`${rbac}/rolebindings`, {
        token: 'limited',
        body: {
          metadata: { name: `${kind}-${name}`.toLowerCase() },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
          subjects: [{ kind: 'User', name: 'another' }],
        },
      });
    expect((await bind('Role', 'granted')).status).toBe(201);
    expect((await bind('ClusterRole', 'cluster-admin')).status).toBe(403);
    expect((await bind('Role', 'none')).status).toBe(404);
  });

  it('for the token of an unknown account is 404', async () => {
    const answer = await send('/api/v1/namespaces/default/serviceaccounts/none/token', { token: admin(), body: { spec: {} } });
    expect(answer).toMatchObject({ status: 404, body: { message: 'serviceaccounts "none" not found' } });
  });

  it('on behalf of another user needs the right to impersonate', async () => {
    const headers = { 'impersonate-user': 'system:serviceaccount:other:bob' };
    const path = '/api/v1/namespaces/default/configmaps';
    expect((await send(path, { token: admin(), headers })).body.message).toContain(
      'User "system:serviceaccount:other:bob" cannot list',
    );
    expect((await send(path, { token: 'limited', headers })).body.message).toBe(
      'serviceaccounts "bob" is forbidden: User "limited" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "other"',
    );
  });
});
